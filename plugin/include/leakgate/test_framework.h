// What leakgate's code for each test framework shares: the agent's windows around tests, and the
// repetitions that `leakgate run` asks for. Users' code does not need this.
//
// A framework's own code tells where a test begins and ends, fails a test for a verdict, and runs
// one test again. A program that the runner starts to repeat tests finds their names and the number
// of repetitions in two variables. GoogleTest has variables of its own for that.
#ifndef LEAKGATE_TEST_FRAMEWORK_H_
#define LEAKGATE_TEST_FRAMEWORK_H_

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "leakgate/agent.h"
#include "leakgate/system.h"

// Keeps a variable that only the runner reads, in the file.
#if defined(__GNUC__)
#define LEAKGATE_USED __attribute__((used))
#else
#define LEAKGATE_USED
#endif

namespace leakgate {
namespace internal {

inline const LeakgateAgent* FindWindowsAgent() { return FindAgent(LEAKGATE_AGENT_WITH_WINDOWS); }

inline bool IsTracingRequired() {
  const char* const required = Variable("LEAKGATE_REQUIRED");
  return required != nullptr && std::strcmp(required, "1") == 0;
}

// Says that this process is not traced, and fails it where that is required.
inline void SayNotTraced() {
  const bool is_required = IsTracingRequired();
  std::fprintf(stderr, "leakgate: not tracing; run the tests as `leakgate run -- BINARY`%s\n",
               is_required ? " (LEAKGATE_REQUIRED=1: failing)" : "");
  constexpr int kInconclusive = 3;
  if (is_required) std::exit(kInconclusive);
}

// The repetitions that the runner asks for; none in all other runs.
class Repetitions {
 public:
  Repetitions() {
    const char* const tests = Variable("LEAKGATE_TESTS");
    const char* const count = Variable("LEAKGATE_REPEAT");
    if (tests == nullptr || count == nullptr) return;
    count_ = static_cast<unsigned>(std::strtoul(count, nullptr, 10));
    for (const char* at = tests; *at != '\0';) {
      const std::size_t length = std::strcspn(at, "\n");
      tests_.emplace_back(at, length);
      at += length;
      if (*at == '\n') ++at;
    }
    // A program that a test starts runs what it is told, once.
    Unset("LEAKGATE_TESTS");
    Unset("LEAKGATE_REPEAT");
  }

  unsigned count() const { return count_; }
  const std::vector<std::string>& tests() const { return tests_; }
  bool Has(const std::string& test) const {
    return std::find(tests_.begin(), tests_.end(), test) != tests_.end();
  }

 private:
  std::vector<std::string> tests_;
  unsigned count_ = 0;
};

// The windows of a program's tests, one at a time. Does nothing in a process that is not traced.
class TestWindows {
 public:
  TestWindows() : agent_(FindWindowsAgent()) {
    if (agent_ == nullptr) return;
    agent_->attach_listener();
    AnnounceEndAtExit();
  }

  bool IsTraced() const { return agent_ != nullptr; }
  const Repetitions& repetitions() const { return repetitions_; }
  bool IsOpen() const { return is_open_; }

  // The strings have to live until the window is closed.
  void Open(const char* name, const char* file, std::size_t line) {
    if (agent_ == nullptr) return;
    const LeakgateWindow window = {LEAKGATE_WINDOW_TEST, name, file, static_cast<unsigned>(line),
                                   iteration_};
    window_ = agent_->open_window(&window);
    is_open_ = true;
  }

  // `result` is LEAKGATE_RESULT_... Calls `fail` with a file, a line and a text if the test is over
  // budget.
  template <typename Fail>
  void Close(unsigned result, Fail fail) {
    if (!is_open_) return;
    is_open_ = false;
    const LeakgateVerdict verdict = agent_->close_window(window_, result);
    if (verdict.is_over_budget == 0) return;
    fail(std::string(verdict.file, verdict.file_length), verdict.line,
         std::string(verdict.text, verdict.text_length));
  }

  // Says that all tests, and all tear-down, of the program or of one repetition have ended.
  void EndIteration() {
    if (agent_ == nullptr) return;
    agent_->end_iteration(iteration_);
    if (repetitions_.count() == 0) AnnounceEndAtExit();
  }

  // Calls `run_tests` for each repetition, and ends the program. `run_tests` runs the tests for
  // which repetitions().Has is true, and returns whether they passed.
  template <typename RunTests>
  void RepeatAndExit(RunTests run_tests) {
    bool have_passed = true;
    for (iteration_ = 1; iteration_ <= repetitions_.count(); ++iteration_) {
      have_passed = run_tests() && have_passed;
      EndIteration();
    }
    std::exit(have_passed ? EXIT_SUCCESS : EXIT_FAILURE);
  }

 private:
  const LeakgateAgent* const agent_;
  const Repetitions repetitions_;
  unsigned iteration_ = 1;
  unsigned window_ = 0;
  bool is_open_ = false;
};

}  // namespace internal
}  // namespace leakgate

#endif  // LEAKGATE_TEST_FRAMEWORK_H_
