#include "runner/cli/commands.h"

#include <fmt/format.h>

#include <cstdio>

#include "runner/cli/agent_location.h"
#include "runner/cli/framework_text.h"
#include "runner/cli/terminal.h"
#include "runner/cli/write_reports.h"
#include "runner/report/text_report.h"

namespace leakgate {

Expected<int> Execute(RunCommand command) {
  command.request.agent = FindAgent();
  const Expected<RunResult> result = Run(command.request);
  if (!result) return Unexpected(result.error());

  Print(stderr, SummaryText(*result, StyleOfStandardError()));
  const Expected<void> written = WriteReports(command.reports, *result);
  if (written) return result->exit_code;
  if (result->exit_code == 0) return Unexpected(written.error());
  Print(stderr, fmt::format("leakgate: {}\n", written.error().message));
  return result->exit_code;
}

Expected<int> Execute(const FrameworkCommand&) {
  Print(stdout, FrameworkRulesText());
  return 0;
}

Expected<int> Execute(const PrintCommand& command) {
  Print(stdout, command.text);
  return 0;
}

}  // namespace leakgate
