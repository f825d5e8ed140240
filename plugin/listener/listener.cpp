// Turns GoogleTest's events into windows, and verdicts into test failures. It is compiled into the
// user's test binary, against the user's GoogleTest, as plain C++14.
#include "leakgate/listener.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "leakgate/agent.h"
#include "leakgate/test_framework.h"

namespace leakgate {
namespace {

// The runner looks for this string in the binary.
LEAKGATE_USED const char kMark[] = "leakgate-listener-1";

unsigned ResultOf(const ::testing::TestInfo& test) {
  const ::testing::TestResult& result = *test.result();
  if (result.Skipped()) return LEAKGATE_RESULT_SKIPPED;
  return result.Passed() ? LEAKGATE_RESULT_PASSED : LEAKGATE_RESULT_FAILED;
}

// Turns a verdict into a failure of whatever GoogleTest runs at the moment.
void Report(const LeakgateVerdict& verdict) {
  if (verdict.is_over_budget == 0) return;
  const std::string file(verdict.file, verdict.file_length);
  const std::string text(verdict.text, verdict.text_length);
  ADD_FAILURE_AT(file.empty() ? nullptr : file.c_str(), static_cast<int>(verdict.line)) << text;
}

class Listener : public ::testing::EmptyTestEventListener {
 public:
  // The program may end within a test.
  explicit Listener(const LeakgateAgent& agent) : agent_(agent) {
    agent_.attach_listener();
    internal::AnnounceEndAtExit();
  }

  // Room for the longest name, so that no window is charged with a name.
  void OnTestProgramStart(const ::testing::UnitTest& program) override {
    std::size_t longest = 0;
    for (int i = 0; i < program.total_test_suite_count(); ++i) {
      const ::testing::TestSuite& suite = *program.GetTestSuite(i);
      for (int j = 0; j < suite.total_test_count(); ++j) {
        const std::size_t length =
            std::strlen(suite.name()) + 1 + std::strlen(suite.GetTestInfo(j)->name());
        if (length > longest) longest = length;
      }
    }
    name_.reserve(longest);
  }

  void OnTestIterationStart(const ::testing::UnitTest&, int iteration) override {
    iteration_ = static_cast<unsigned>(iteration) + 1;
  }

  void OnTestSuiteStart(const ::testing::TestSuite& suite) override {
    const LeakgateWindow window = {LEAKGATE_WINDOW_SUITE, suite.name(), nullptr, 0, iteration_};
    suite_window_ = agent_.open_window(&window);
  }

  void OnTestStart(const ::testing::TestInfo& test) override {
    name_.assign(test.test_suite_name()).append(1, '.').append(test.name());
    const LeakgateWindow window = {LEAKGATE_WINDOW_TEST, name_.c_str(), test.file(),
                                   static_cast<unsigned>(test.line()), iteration_};
    test_window_ = agent_.open_window(&window);
  }

  void OnTestEnd(const ::testing::TestInfo& test) override {
    Report(agent_.close_window(test_window_, ResultOf(test)));
  }

  void OnTestSuiteEnd(const ::testing::TestSuite&) override {
    Report(agent_.close_window(suite_window_, LEAKGATE_RESULT_UNKNOWN));
  }

  // There is no verdict here: a failure would be printed, but would not fail the program.
  void OnTestIterationEnd(const ::testing::UnitTest&, int) override {
    agent_.end_iteration(iteration_);
  }

  // Once more, since the exit handlers that are registered last run first.
  void OnTestProgramEnd(const ::testing::UnitTest&) override { internal::AnnounceEndAtExit(); }

 private:
  const LeakgateAgent& agent_;
  std::string name_;
  unsigned iteration_ = 1;
  unsigned suite_window_ = 0;
  unsigned test_window_ = 0;
};

}  // namespace

void AppendListener() {
  // Where there is no attribute for it, this keeps the mark.
  (void)*static_cast<const volatile char*>(kMark);
  static bool is_appended = false;
  if (is_appended) return;
  is_appended = true;

  const LeakgateAgent* const agent = internal::FindWindowsAgent();
  if (agent == nullptr) return internal::SayNotTraced();
  ::testing::UnitTest::GetInstance()->listeners().Append(new Listener(*agent));
}

}  // namespace leakgate
