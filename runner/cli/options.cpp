#include "runner/cli/options.h"

#include <fmt/format.h>

#include <algorithm>

#include "runner/cli/command_line.h"
#include "runner/cli/help_text.h"
#include "runner/cli/one_line.h"
#include "runner/cli/split_arguments.h"
#include "runner/cli/version.h"

namespace leakgate {
namespace {

// What the parser could not place: the first such argument tells the mistake.
// `command`: the one that was found; may be empty.
std::string StrayArgumentText(const std::string& argument, const std::string& command) {
  if (argument.starts_with("-")) {
    return fmt::format("unknown option '{}'; see leakgate{}{} --help", argument,
                       command.empty() ? "" : " ", command);
  }
  if (command.empty()) return fmt::format("unknown command '{}'; see leakgate --help", argument);
  if (command == "run") {
    return fmt::format(
        "unexpected argument '{0}'; the program goes after two dashes: leakgate run "
        "-- {0}",
        argument);
  }
  return fmt::format("unexpected argument '{}'; see leakgate {} --help", argument, command);
}

Expected<Command> MakeCommand(const CommandLine& line, const std::vector<std::string>& program) {
  if (line.run.is_parsed()) return line.run.Make(program);
  if (line.budget.is_parsed()) return line.budget.Make(program);
  if (line.results.is_parsed()) return line.results.Make();
  if (line.sessions.is_parsed()) return line.sessions.Make(program);
  if (line.snapshots.is_parsed()) return line.snapshots.Make();
  if (line.others.is_parsed()) return line.others.Make(program);
  return UsageError(
      "no command; to run a test binary: leakgate run -- BINARY; see leakgate --help");
}

// Where nothing is run, what follows two dashes is a path as any other.
void TakePaths(SplitArguments& split) {
  for (const std::string& path : split.program) {
    split.options.push_back(path.starts_with('-') ? "./" + path : path);
  }
  split.program.clear();
}

}  // namespace

Expected<Command> ParseCommandLine(const std::vector<std::string>& arguments) {
  CommandLine line;
  SplitArguments split = Split(arguments);
  if (IsResultCommandLine(arguments) || IsSnapshotCommandLine(arguments)) TakePaths(split);
  std::reverse(split.options.begin(), split.options.end());  // as CLI11 wants them
  try {
    line.app.parse(split.options);
  } catch (const CLI::CallForVersion&) {
    return Command(PrintCommand{VersionText() + "\n"});
  } catch (const CLI::CallForHelp&) {
    const std::vector<CommandPage> pages = AllPages();
    return Command(PrintCommand{HelpText(PageOf(pages, line.ParsedName()), pages)});
  } catch (const CLI::ParseError& error) {
    const std::string command = line.ParsedName();
    return UsageError(fmt::format("{}; see leakgate {}{}--help", OneLine(error.what()), command,
                                  command.empty() ? "" : " "));
  }
  const std::vector<std::string> stray = line.app.remaining(true);
  if (!stray.empty()) return UsageError(StrayArgumentText(stray.front(), line.ParsedName()));
  return MakeCommand(line, split.program);
}

}  // namespace leakgate
