#include "runner/cli/commands/program_line.h"

#include <fmt/format.h>

#include "runner/process/process_image.h"
#include "runner/run/linux/test_listing.h"

namespace leakgate {

Expected<void> SetProgram(const ProgramLine& program, std::string_view usage, RunRequest& request) {
  if (program.empty() || program.front().empty()) {
    return UsageError(
        fmt::format("no program to run; write it after two dashes: leakgate {} -- BINARY", usage));
  }
  request.program = program.front();
  request.arguments.assign(program.begin() + 1, program.end());
  return {};
}

Expected<ListedProgram> ListProgram(const ProgramLine& line) {
  const Expected<std::filesystem::path> program = FindProgram(line.front());
  if (!program) return Unexpected(program.error());
  ListedProgram listed{*program, {}};
  for (const auto& [name, source] : ListTests(*program, {line.begin() + 1, line.end()})) {
    listed.tests.push_back({name, source.file});
  }
  if (!listed.tests.empty()) return listed;
  return UsageError(
      fmt::format("{}: lists no tests; name a GoogleTest binary, and check its "
                  "--gtest_filter",
                  line.front()));
}

}  // namespace leakgate
