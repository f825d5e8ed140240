// leakgate's listener for Catch2, versions 2 and 3: fails each test case whose outstanding
// allocations exceed its budget. For C++14 and later; there is nothing to link.
//
// Include it in one source file of the test program, below Catch2's own header. With Catch2 v2,
// that is the file that defines CATCH_CONFIG_MAIN or CATCH_CONFIG_RUNNER:
//
//   #define CATCH_CONFIG_MAIN
//   #include <catch2/catch.hpp>
//   #include <leakgate/catch2.h>
//
// A test case has one window, whatever its sections and generators make of it: it begins when the
// test case first runs, and ends when it has run for the last time. A verdict is an assertion that
// fails there, at the call site. The tests are measured under `leakgate run -- BINARY`. Started
// without it, the header does nothing; with LEAKGATE_REQUIRED=1 in the environment it fails the
// program.
#ifndef LEAKGATE_CATCH2_H_
#define LEAKGATE_CATCH2_H_

#if defined(TWOBLUECUBES_SINGLE_INCLUDE_CATCH_HPP_INCLUDED)
#if !defined(CATCH_CONFIG_MAIN) && !defined(CATCH_CONFIG_RUNNER)
#error \
    "leakgate/catch2.h: include it in the file that defines CATCH_CONFIG_MAIN or CATCH_CONFIG_RUNNER"
#endif
#define LEAKGATE_CATCH2_V2 1
#else
#define LEAKGATE_CATCH2_V2 0
#if !defined(CATCH_AMALGAMATED_HPP_INCLUDED)
#include <catch2/catch_test_case_info.hpp>
#include <catch2/catch_version_macros.hpp>
#include <catch2/interfaces/catch_interfaces_registry_hub.hpp>
#include <catch2/interfaces/catch_interfaces_testcase.hpp>
#include <catch2/internal/catch_run_context.hpp>
#include <catch2/reporters/catch_reporter_event_listener.hpp>
#include <catch2/reporters/catch_reporter_registrars.hpp>
#endif
#endif

#if !defined(CATCH_CONFIG_DISABLE)

#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "leakgate/test_framework.h"

namespace leakgate {
namespace internal {
namespace {

// The runner looks for this string in the binary.
LEAKGATE_USED const char kCatch2Mark[] = "leakgate-listener-1 Catch2";

// Only RunContext knows whether a test case runs once more, for its other sections. An explicit
// instantiation may name private members.
struct TrackerOfTestCase {
  using Pointer = Catch::TestCaseTracking::ITracker* Catch::RunContext::*;
  friend Pointer MemberOf(TrackerOfTestCase);
};
template <typename Member, typename Member::Pointer kPointer>
struct GivesMember {
  friend typename Member::Pointer MemberOf(Member) { return kPointer; }
};
template struct GivesMember<TrackerOfTestCase, &Catch::RunContext::m_testCaseTracker>;

inline Catch::RunContext& RunningContext() {
  return static_cast<Catch::RunContext&>(Catch::getResultCapture());
}

inline bool RunsOnceMore() {
  const Catch::RunContext& context = RunningContext();
  const auto* const tracker = context.*MemberOf(TrackerOfTestCase());
  return !tracker->isSuccessfullyCompleted() && !context.aborting();
}

#if LEAKGATE_CATCH2_V2
using Catch2Listener = Catch::TestEventListenerBase;
using RegisteredTest = Catch::TestCase;
inline std::size_t CountSkips(const Catch::Counts&) { return 0; }
#else
using Catch2Listener = Catch::EventListenerBase;
using RegisteredTest = Catch::TestCaseHandle;
template <typename Counts>
auto CountSkips(const Counts& counts) -> decltype(counts.skipped) {
  return counts.skipped;
}
template <typename... Counts>
std::size_t CountSkips(const Counts&...) {
  return 0;  // before 3.3
}
#endif

inline TestWindows& WindowsOfCatch2() {
  static TestWindows windows;
  return windows;
}

// Runs a registered test within its window. When Catch2 has begun a test, it keeps memory for
// itself before it runs the test.
class WindowInvoker : public Catch::ITestInvoker {
 public:
  explicit WindowInvoker(const RegisteredTest& test) : test_(test) {}

  void invoke() const override {
    const Catch::TestCaseInfo& info = test_.getTestCaseInfo();
    TestWindows& windows = WindowsOfCatch2();
    if (!windows.IsOpen()) windows.Open(info.name.c_str(), info.lineInfo.file, info.lineInfo.line);
    test_.invoke();
  }
#if !LEAKGATE_CATCH2_V2 && (CATCH_VERSION_MAJOR > 3 || CATCH_VERSION_MINOR >= 7)
  void prepareTestCase() override { test_.prepareTestCase(); }
  void tearDownTestCase() override { test_.tearDownTestCase(); }
#endif

 private:
  const RegisteredTest test_;
};

// Catch2 owns the invoker, or never frees it.
inline RegisteredTest WithinWindow(const RegisteredTest& test) {
#if LEAKGATE_CATCH2_V2
  return {new WindowInvoker(test), Catch::TestCaseInfo(test.getTestCaseInfo())};
#else
  static std::vector<std::unique_ptr<WindowInvoker> > invokers;
  invokers.push_back(std::make_unique<WindowInvoker>(test));
  return {const_cast<Catch::TestCaseInfo*>(&test.getTestCaseInfo()), invokers.back().get()};
#endif
}

// An assertion that fails in the section that is the test case itself.
inline void FailTestCase(const std::string& file, unsigned line, std::string text) {
  static std::set<std::string> files;  // Catch2 keeps pointers to them
  const Catch::AssertionInfo info = {Catch::StringRef("LEAKGATE", 8),
                                     Catch::SourceLineInfo(files.insert(file).first->c_str(), line),
                                     Catch::StringRef(),
                                     Catch::ResultDisposition::ContinueOnFailure};
  Catch::AssertionReaction reaction;  // neither to throw nor to break
  Catch::getResultCapture().handleMessage(info, Catch::ResultWas::ExplicitFailure, std::move(text),
                                          reaction);
}

// Catch2 calls listeners before reporters. A test case's own section encloses all others, and
// begins and ends each time the test case runs.
class WindowListener : public Catch2Listener {
 public:
  using Catch2Listener::Catch2Listener;

  // The tests of this run are not chosen yet.
  void testRunStarting(Catch::TestRunInfo const&) override {
    auto& registry = Catch::getRegistryHub().getTestCaseRegistry();
    for (const auto* const tests :
         {&registry.getAllTestsSorted(*m_config), &registry.getAllTests()}) {
      for (const RegisteredTest& test : *tests) {
        const_cast<RegisteredTest&>(test) = WithinWindow(test);
      }
    }
  }

  void testCaseStarting(Catch::TestCaseInfo const&) override {
    depth_ = 0;
    result_ = LEAKGATE_RESULT_PASSED;
    if (windows_.repetitions().count() == 0 || is_repeating_) return;
    is_repeating_ = true;
    windows_.RepeatAndExit([this] { return RunRepeatedTests(); });
  }

  void sectionStarting(Catch::SectionInfo const&) override { ++depth_; }

  void sectionEnded(Catch::SectionStats const& section) override {
    if (--depth_ != 0) return;
    if (section.assertions.failed != 0) result_ = LEAKGATE_RESULT_FAILED;
    if (CountSkips(section.assertions) != 0 && result_ == LEAKGATE_RESULT_PASSED) {
      result_ = LEAKGATE_RESULT_SKIPPED;
    }
    if (!RunsOnceMore()) windows_.Close(result_, FailTestCase);
  }

  void testRunEnded(Catch::TestRunStats const&) override { windows_.EndIteration(); }

  // The base class would keep what it is told.
  void testCaseEnded(Catch::TestCaseStats const&) override {}
#if LEAKGATE_CATCH2_V2
  void testGroupStarting(Catch::GroupInfo const&) override {}
  void testGroupEnded(Catch::TestGroupStats const&) override {}
#endif

 private:
  bool RunRepeatedTests() {
    bool have_passed = true;
    for (const auto& test : Catch::getRegistryHub().getTestCaseRegistry().getAllTests()) {
      if (!windows_.repetitions().Has(test.getTestCaseInfo().name)) continue;
      have_passed = RunningContext().runTest(test).assertions.failed == 0 && have_passed;
    }
    return have_passed;
  }

  TestWindows& windows_ = WindowsOfCatch2();
  unsigned result_ = LEAKGATE_RESULT_PASSED;
  int depth_ = 0;
  bool is_repeating_ = false;
};

// Catch2 has no listener in a process that is not traced.
struct ListenerAppended {
  ListenerAppended() {
    if (!WindowsOfCatch2().IsTraced()) {
      if (IsTracingRequired()) SayNotTraced();
      return;
    }
#if LEAKGATE_CATCH2_V2
    Catch::ListenerRegistrar<WindowListener>();
#else
    Catch::ListenerRegistrar<WindowListener>(Catch::StringRef("leakgate", 8));
#endif
  }
};
const ListenerAppended kListenerAppended;

}  // namespace
}  // namespace internal
}  // namespace leakgate

#endif  // !CATCH_CONFIG_DISABLE
#endif  // LEAKGATE_CATCH2_H_
