// `leakgate merge`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "runner/base/expected.h"
#include "runner/cli/option_list.h"
#include "runner/cli/terminal.h"
#include "runner/report/report_format.h"

namespace leakgate {

// Merges the results of shards, repeats and jobs into one.
struct MergeCommand {
  std::vector<std::filesystem::path> results;  // files and directories
  std::vector<ReportRequest> reports;
  std::optional<std::int64_t> expected;  // with another number of runs it is inconclusive
  ProgressMode progress = ProgressMode::kAuto;
  std::filesystem::path baseline;     // for the page to compare with; empty: none
  std::filesystem::path history;      // of `leakgate history`, for the page; empty: none
  std::filesystem::path source_root;  // of the sources that the page quotes; empty: none
};

// Prints the summary to standard error, and returns the merged verdict's exit code.
// After an error nothing has been written.
[[nodiscard]] Expected<int> Execute(const MergeCommand& command);

void Declare(MergeCommand& command, OptionList& options);
[[nodiscard]] Expected<void> Complete(MergeCommand& command, const ProgramLine& program);

}  // namespace leakgate
