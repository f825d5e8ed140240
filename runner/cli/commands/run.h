// `leakgate run`: runs a test binary under its budgets, and reports. Also has what other commands
// do with the program behind the two dashes.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runner/base/expected.h"
#include "runner/budget/budget_set.h"
#include "runner/cli/option_list.h"
#include "runner/cli/terminal.h"
#include "runner/report/report_format.h"
#include "runner/report/summary_text.h"
#include "runner/run/judged_run.h"
#include "runner/run/run_request.h"

namespace leakgate {

// Sets the program of `request`. If there is none, the usage error shows the command `usage`.
[[nodiscard]] Expected<void> SetProgram(const ProgramLine& program, std::string_view usage,
                                        RunRequest& request);

struct ListedProgram {
  std::filesystem::path path;
  std::vector<TestId> tests;
};

// Asks the program for its tests. Returns an error if there is no such program, or if it lists no
// tests. REQUIRES: `line` is not empty.
[[nodiscard]] Expected<ListedProgram> ListProgram(const ProgramLine& line);

// What a profiler adds to `leakgate run`: options, and files that it keeps of tests. Its functions
// are called in this order.
class RunAddition {
 public:
  RunAddition() = default;
  RunAddition(const RunAddition&) = delete;
  RunAddition& operator=(const RunAddition&) = delete;
  virtual ~RunAddition() = default;

  virtual void Declare(OptionList& options) = 0;
  // Checks the options together.
  [[nodiscard]] virtual Expected<void> Complete() = 0;
  // Adds what is to see the run, before the program starts.
  [[nodiscard]] virtual Expected<void> Prepare(RunExtensions& extensions) = 0;
  // Prints which files there are. An error tells the user who asked for them that they are not
  // there.
  [[nodiscard]] virtual Expected<void> Tell(SummaryDetail detail) const = 0;
};

struct RunCommand {
  RunRequest request;                        // its `agent` and `baseline` are left empty
  std::vector<ReportRequest> reports;        // their paths may hold placeholders
  std::filesystem::path baseline;            // an earlier report; empty: none
  std::filesystem::path history;             // of `leakgate history`, for the page; empty: none
  std::filesystem::path source_root;         // of those that a page quotes; empty: anywhere
  std::shared_ptr<RunAddition> addition;     // if null, nothing is added
  std::optional<int> over_budget_exit_code;  // instead of 1, where no test has failed by itself
  std::optional<int> skip_exit_code;         // instead of 0, where every test was skipped
  bool allows_no_tests = false;              // passes where no test ran
  bool has_no_cache = false;           // reads debug information anew, and keeps nothing of it
  bool prints_measurements = false;    // of CTest, on standard output
  std::vector<GateMode> modes;         // the flags that were given; Complete allows one
  std::vector<SummaryDetail> details;  // the flags that were given; Complete allows one
  SummaryDetail detail = SummaryDetail::kNormal;
  std::optional<ProgressMode> given_progress;
  ProgressMode progress = ProgressMode::kAuto;
};

void Declare(RunCommand& command, OptionList& options);
[[nodiscard]] Expected<void> Complete(RunCommand& command, const ProgramLine& program);

// Prints to standard output and error, and returns the exit code. The caller prints errors.
[[nodiscard]] Expected<int> Execute(RunCommand command);

}  // namespace leakgate
