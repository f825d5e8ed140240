// `leakgate merge`: what was asked for, and doing it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "runner/base/expected.h"
#include "runner/cli/app/option_list.h"
#include "runner/cli/terminal.h"
#include "runner/report/report_file.h"

namespace leakgate {

// Makes one result of many: of shards, repeats and jobs.
struct MergeCommand {
  std::vector<std::filesystem::path> results;  // files and directories
  std::vector<ReportRequest> reports;
  std::optional<std::int64_t> expected;  // that many runs, or it is inconclusive
  ProgressMode progress = ProgressMode::kAuto;
  std::filesystem::path baseline;     // that the page compares with; empty: none
  std::filesystem::path source_root;  // where the page's sources are; empty: it quotes none
};

// Prints the summary to standard error, and returns the merged verdict's exit code.
// After an error nothing has been written.
[[nodiscard]] Expected<int> Execute(const MergeCommand& command);

// The options of `leakgate merge`; what it does is in merge_command.h.

void Declare(MergeCommand& command, OptionList& options);
[[nodiscard]] Expected<void> Complete(MergeCommand& command, const ProgramLine& program);

// FORMAT=FILE of --report.
[[nodiscard]] OptionValue ReportWord();
[[nodiscard]] Expected<ReportRequest> ParseReport(const std::string& option,
                                                  const std::string& text);

}  // namespace leakgate
