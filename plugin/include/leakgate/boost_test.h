// leakgate's observer for Boost.Test: fails each test case whose outstanding allocations exceed its
// budget. For C++14 and later; there is nothing to link.
//
// Include it in one source file of the test program, below Boost.Test's own header, whichever of
// its variants that is:
//
//   #define BOOST_TEST_MODULE my_tests
//   #include <boost/test/unit_test.hpp>
//   #include <leakgate/boost_test.h>
//
// A test case's window has its fixtures within it, but not those of its suites. A verdict is an
// error in the test case, at the call site. The tests are measured under `leakgate run -- BINARY`.
// Started without it, the header does nothing; with LEAKGATE_REQUIRED=1 in the environment it fails
// the program.
#ifndef LEAKGATE_BOOST_TEST_H_
#define LEAKGATE_BOOST_TEST_H_

#include <boost/make_shared.hpp>
#include <boost/test/framework.hpp>
#include <boost/test/results_collector.hpp>
#include <boost/test/tree/fixture.hpp>
#include <boost/test/tree/observer.hpp>
#include <boost/test/tree/test_case_counter.hpp>
#include <boost/test/tree/test_unit.hpp>
#include <boost/test/tree/traverse.hpp>
#include <boost/test/tree/visitor.hpp>
#include <boost/test/unit_test_log.hpp>
#include <string>

#include "leakgate/test_framework.h"

namespace leakgate {
namespace internal {
namespace {

// The runner looks for this string in the binary.
LEAKGATE_USED const char kBoostTestMark[] = "leakgate-listener-1 Boost.Test";

inline TestWindows& WindowsOfBoostTest() {
  static TestWindows windows;
  return windows;
}

// The window of a test case, as the outermost of its fixtures: while a fixture is torn down, the
// test can still fail.
class WindowFixture : public boost::unit_test::test_unit_fixture {
 public:
  explicit WindowFixture(const boost::unit_test::test_case& test)
      : test_(test),
        name_(test.full_name()),
        file_(test.p_file_name.begin(), test.p_file_name.end()) {}

  void setup() override {
    WindowsOfBoostTest().Open(name_.c_str(), file_.c_str(), test_.p_line_num);
  }

  void teardown() override {
    using boost::unit_test::results_collector;
    const bool has_passed = results_collector.results(test_.p_id).passed();
    WindowsOfBoostTest().Close(has_passed ? LEAKGATE_RESULT_PASSED : LEAKGATE_RESULT_FAILED, Fail);
  }

 private:
  static void Fail(const std::string& file, unsigned line, const std::string& text) {
    using namespace boost::unit_test;
    unit_test_log << log::begin(file, line) << log_all_errors << text << log::end();
    framework::assertion_result(AR_FAILED);
  }

  const boost::unit_test::test_case& test_;
  const std::string name_;
  const std::string file_;
};

class WindowObserver : public boost::unit_test::test_observer {
 public:
  WindowObserver() {
    if (WindowsOfBoostTest().IsTraced()) {
      boost::unit_test::framework::register_observer(*this);
    } else if (IsTracingRequired()) {
      SayNotTraced();
    }
  }
  ~WindowObserver() override { boost::unit_test::framework::deregister_observer(*this); }

  void test_start(boost::unit_test::counter_t, boost::unit_test::test_unit_id) override {
    if (has_fixtures_) return;
    has_fixtures_ = true;
    ForEachCase add_fixture{[](boost::unit_test::test_case& test) {
      auto& fixtures = test.p_fixtures.value;
      fixtures.insert(fixtures.begin(), boost::make_shared<WindowFixture>(test));
    }};
    Traverse(add_fixture);
    if (windows_.repetitions().count() == 0) return;
    is_repeating_ = true;
    ForEachCase choose{[](boost::unit_test::test_case& test) {
      const bool is_asked = WindowsOfBoostTest().repetitions().Has(test.full_name());
      test.p_default_status.value = is_asked ? boost::unit_test::test_unit::RS_ENABLED
                                             : boost::unit_test::test_unit::RS_DISABLED;
    }};
    Traverse(choose);
    windows_.RepeatAndExit([] { return RunChosenTests(); });
  }

  void test_finish() override {
    if (!is_repeating_) windows_.EndIteration();
  }

  // After those of Boost.Test.
  int priority() override { return 100; }

 private:
  using Action = void (*)(boost::unit_test::test_case& test);
  struct ForEachCase : boost::unit_test::test_tree_visitor {
    explicit ForEachCase(Action to_do) : action(to_do) {}
    void visit(const boost::unit_test::test_case& test) override {
      action(const_cast<boost::unit_test::test_case&>(test));
    }
    Action action;
  };

  static void Traverse(ForEachCase& visitor) {
    boost::unit_test::traverse_test_tree(boost::unit_test::framework::master_test_suite(), visitor,
                                         true);
  }

  static bool RunChosenTests() {
    const boost::unit_test::test_unit_id all =
        boost::unit_test::framework::master_test_suite().p_id;
    boost::unit_test::framework::run(all);
    return boost::unit_test::results_collector.results(all).passed();
  }

  TestWindows& windows_ = WindowsOfBoostTest();
  bool has_fixtures_ = false;
  bool is_repeating_ = false;
};
WindowObserver window_observer;

}  // namespace
}  // namespace internal
}  // namespace leakgate

#endif  // LEAKGATE_BOOST_TEST_H_
