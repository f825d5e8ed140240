// leakgate's listener for doctest: fails each test case whose outstanding allocations exceed its
// budget. For C++14 and later; there is nothing to link.
//
// Include it in one source file of the test program, below doctest's own header:
//
//   #define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
//   #include <doctest/doctest.h>
//   #include <leakgate/doctest.h>
//
// A test case has one window, however often doctest runs it for its subcases. A verdict is a
// message that fails the test case, at the call site; its name is that of its suite, a dot, and its
// own. The tests are measured under `leakgate run -- BINARY`. Started without it, the header does
// nothing; with LEAKGATE_REQUIRED=1 in the environment it fails the program.
#ifndef LEAKGATE_DOCTEST_H_
#define LEAKGATE_DOCTEST_H_

#if !defined(DOCTEST_VERSION)
#error "leakgate/doctest.h: include it below doctest's own header"
#endif

#if !defined(DOCTEST_CONFIG_DISABLE)

#include <algorithm>
#include <string>

#include "leakgate/test_framework.h"

namespace leakgate {
namespace internal {
namespace {

// The runner looks for this string in the binary.
LEAKGATE_USED const char kDoctestMark[] = "leakgate-listener-1 doctest";

// doctest makes a listener for each run, and repetitions are runs. What they share:
struct DoctestState {
  TestWindows windows;
  bool is_repeating = false;
};
inline DoctestState& StateOfDoctest() {
  static DoctestState state;
  return state;
}

// Before 2.4.7 there is no such member.
template <typename Stats>
auto NoteFailure(Stats& stats, int) -> decltype(static_cast<void>(stats.testCaseSuccess)) {
  stats.testCaseSuccess = false;
}
template <typename Stats>
void NoteFailure(Stats&, long) {}

// doctest calls listeners before reporters, and counts what failed before it tells them. So the
// listener corrects what doctest counted, which are its own variables, as the reporters and the
// exit code are to have it.
class DoctestListener : public doctest::IReporter {
 public:
  explicit DoctestListener(const doctest::ContextOptions&) {}

  void test_run_start() override {
    if (windows_.repetitions().count() == 0 || state_.is_repeating) return;
    state_.is_repeating = true;
    windows_.RepeatAndExit([this] { return RunRepeatedTests(); });
  }

  void test_case_start(const doctest::TestCaseData& test) override {
    name_ = test.m_test_suite;
    if (!name_.empty()) name_ += '.';
    name_ += test.m_name;
    const bool is_other = state_.is_repeating && !windows_.repetitions().Has(name_);
    if (is_other) {
      SkipBody(test);
      return;
    }
    windows_.Open(name_.c_str(), test.m_file.c_str(), test.m_line);
  }

  void test_case_end(const doctest::CurrentTestCaseStats& counted) override {
    auto& stats = const_cast<doctest::CurrentTestCaseStats&>(counted);
    const bool has_failed = stats.failure_flags != 0;
    windows_.Close(has_failed ? LEAKGATE_RESULT_FAILED : LEAKGATE_RESULT_PASSED,
                   [&](const std::string& file, unsigned line, const std::string& text) {
                     doctest::detail::MessageBuilder message(file.c_str(), static_cast<int>(line),
                                                             doctest::assertType::is_check);
                     message* doctest::String(text.c_str());
                     message.log();
                     ++stats.numAssertsCurrentTest;
                     ++stats.numAssertsFailedCurrentTest;
                     stats.failure_flags |= doctest::TestCaseFailureReason::AssertFailure;
                     NoteFailure(stats, 0);
                     ++failed_asserts_;
                     if (!has_failed) ++failed_tests_;
                   });
  }

  void test_run_end(const doctest::TestRunStats& counted) override {
    auto& stats = const_cast<doctest::TestRunStats&>(counted);
    stats.numAsserts += failed_asserts_;
    stats.numAssertsFailed += failed_asserts_;
    stats.numTestCasesFailed += failed_tests_;
    if (!state_.is_repeating) windows_.EndIteration();
  }

  void report_query(const doctest::QueryData&) override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}

 private:
  // A run of its own, by a filter. A suite's name and a filter's own characters cannot be told from
  // the test's, so the filter may choose others, too.
  bool RunRepeatedTests() {
    doctest::Context context;
    context.setOption("no-skip", true);
    for (const std::string& test : windows_.repetitions().tests()) {
      for (std::size_t at = 0; at != std::string::npos; at = test.find('.', at + 1)) {
        std::string filter = test.substr(at == 0 ? 0 : at + 1);
        std::replace_if(
            filter.begin(), filter.end(),
            [](char c) { return std::strchr(",\\\"*", c) != nullptr; }, '?');
        context.addFilter("test-case", filter.c_str());
      }
    }
    return context.run() == 0;
  }

  static void SkipBody(const doctest::TestCaseData& test) {
    auto& body = static_cast<const doctest::detail::TestCase&>(test).m_test;
    const_cast<doctest::detail::funcType&>(body) = [] {};
  }

  DoctestState& state_ = StateOfDoctest();
  TestWindows& windows_ = state_.windows;
  std::string name_;
  int failed_asserts_ = 0;
  unsigned failed_tests_ = 0;
};

// doctest has no listener in a process that is not traced.
struct DoctestListenerAdded {
  DoctestListenerAdded() {
    if (StateOfDoctest().windows.IsTraced()) {
      doctest::registerReporter<DoctestListener>("leakgate", 1, false);
    } else if (IsTracingRequired()) {
      SayNotTraced();
    }
  }
};
const DoctestListenerAdded kDoctestListenerAdded;

}  // namespace
}  // namespace internal
}  // namespace leakgate

#endif  // !DOCTEST_CONFIG_DISABLE
#endif  // LEAKGATE_DOCTEST_H_
