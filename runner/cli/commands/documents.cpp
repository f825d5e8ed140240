#include "runner/cli/commands/documents.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "runner/attribution/framework_rules.h"
#include "runner/attribution/wrappers.h"
#include "runner/base/atomic_file.h"
#include "runner/base/path_text.h"
#include "runner/base/regular_file.h"
#include "runner/cli/help/help_formats.h"
#include "runner/cli/terminal.h"

namespace leakgate {
namespace {

using WriteCompletion = std::string (*)(const std::vector<CommandPage>& pages);

const Choices<WriteCompletion> kShells = {
    "SHELL", "", "", {{"bash", BashCompletion}, {"zsh", ZshCompletion}, {"fish", FishCompletion}}};

// Returns a line for each rule: its name, its function, how it matches, and why.
std::string FrameworkRulesText() {
  std::string text = fmt::format(
      "What is counted as the framework's own, apart from outstanding (list version {}):\n",
      kFrameworkRulesVersion);
  std::string_view name;
  for (const FrameworkRule& rule : FrameworkRules()) {
    if (rule.name != name) text += fmt::format("\n{}: {}\n", rule.name, rule.why);
    name = rule.name;
    text += rule.function.empty() ? fmt::format("  {}\n", Describe(rule.match))
                                  : fmt::format("  {} ({})\n", rule.function, Describe(rule.match));
  }
  return text;
}

// Returns a line for each library.
std::string WrappersText() {
  std::string text =
      "\nAllocation wrappers, which are never the call site of a block: their callers are. Budget "
      "files\n(\"wrappers\") and run --wrapper declare more.\n";
  for (const KnownWrappers& wrappers : ListKnownWrappers()) {
    text += fmt::format("\n{}:\n  {}\n", wrappers.library, fmt::join(wrappers.patterns, ", "));
  }
  return text;
}

// Shows the file in $PAGER, or else in less. Returns false if neither could be started.
bool ShowInPager(const std::filesystem::path& file) {
  const std::string script = fmt::format(
      "export LESS=\"${{LESS-FRX}}\"; pager=${{PAGER:-less}}; "
      "command -v \"${{pager%% *}}\" >/dev/null || exit 127; exec $pager '{}'",
      Replaced(PathText(file), "'", "'\\''"));
  return std::system(script.c_str()) == 0;
}

}  // namespace

void Declare(HelpRequest& request, OptionList& options) {
  OptionValue value{"PAGE", ValueKind::kCommand};
  for (const Term& page : DocumentPages()) value.choices.push_back(page.term);
  options.AddArgument("topic", std::move(value), request.words);
}

void Declare(CompletionRequest& request, OptionList& options) {
  options.AddArgument("shell", {kShells.value_word, ValueKind::kChoice, WordsOf(kShells)},
                      request.shell);
}

void Declare(ManRequest& request, OptionList& options) {
  options.AddArgument("command", {"COMMAND", ValueKind::kCommand}, request.words);
  options.Add("-o,--output", FileWord("DIR"), request.directory,
              "Write the pages of all commands into a directory, as leakgate-COMMAND.1");
}

Expected<void> Complete(FrameworkCommand&, const ProgramLine& program) {
  return RequireNoProgram("framework", program);
}

Expected<void> RequireNoProgram(const std::string& command, const ProgramLine& program) {
  if (program.empty()) return {};
  return UsageError(
      fmt::format("the command '{}' runs no program; leave out what follows --", command));
}

Expected<std::string> CompletionText(const CompletionRequest& request,
                                     const std::vector<CommandPage>& pages) {
  for (const auto& [word, write] : kShells.all) {
    if (word == request.shell) return write(pages);
  }
  const std::string known = OneOf(WordsOf(kShells));
  if (request.shell.empty()) {
    return UsageError(
        fmt::format("no shell; name it: leakgate completion SHELL, which is {}", known));
  }
  return UsageError(
      fmt::format("no completion for the shell '{}'; there is {}", request.shell, known));
}

Expected<std::string> ManText(const ManRequest& request, const std::vector<CommandPage>& pages) {
  std::string name = fmt::format("{}", fmt::join(request.words, " "));
  if (name.starts_with("leakgate")) {
    std::replace(name.begin(), name.end(), '-', ' ');
    name.erase(0, std::min(name.size(), std::string("leakgate ").size()));
  }
  for (const CommandPage& page : pages) {
    if (page.prose.name == name) return ManPage(page, pages);
  }
  return UsageError(fmt::format("no manual page for '{}'; see leakgate --help", name));
}

Expected<int> Execute(const PrintCommand& command) {
  PrintVerbatim(stdout, command.text);
  return kExitPass;
}

Expected<int> Execute(const ShowPageCommand& command) {
  constexpr std::uint64_t kMostBytes = 16 << 20;
  const auto text = ReadRegularFile(command.file, kMostBytes);
  if (!text) {
    return UsageError(fmt::format(
        "{}: cannot be read: {}; install leakgate's documents, or read them in its sources",
        PathText(command.file), text.error().message()));
  }
  if (!IsTerminal(stdout) || !ShowInPager(command.file)) PrintVerbatim(stdout, *text);
  return kExitPass;
}

Expected<int> Execute(const FrameworkCommand&) {
  PrintVerbatim(stdout, FrameworkRulesText() + WrappersText());
  return kExitPass;
}

Expected<int> Execute(const WriteManPagesCommand& command) {
  std::error_code error;
  std::filesystem::create_directories(command.directory, error);  // else the first page says why
  for (const CommandPage& page : command.pages) {
    const std::filesystem::path path = command.directory / (ManPageName(page) + ".1");
    LEAKGATE_TRY(WriteFileAtomically(path, ManPage(page, command.pages)));
  }
  return kExitPass;
}

}  // namespace leakgate
