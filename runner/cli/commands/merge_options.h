// The options of `leakgate merge`; what it does is in merge_command.h.
#pragma once

#include "runner/cli/app/option_list.h"
#include "runner/cli/merge_command.h"

namespace leakgate {

void Declare(MergeCommand& command, OptionList& options);
[[nodiscard]] Expected<void> Complete(MergeCommand& command, const ProgramLine& program);

// FORMAT=FILE of --report.
[[nodiscard]] OptionValue ReportWord();
[[nodiscard]] Expected<ReportRequest> ParseReport(const std::string& option,
                                                  const std::string& text);

}  // namespace leakgate
