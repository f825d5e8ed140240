#include <fmt/format.h>

#include "runner/cli/help/help_formats.h"

namespace leakgate {
namespace {

constexpr std::string_view kFunctions = R"sh(
# Whether the cursor is at a command of that name, before any two dashes.
function __leakgate_at
    set -l tokens (commandline -opc)
    contains -- -- $tokens; and return 1
    set -l name ''
    for token in $tokens[2..-1]
        set -l longer (string trim -- "$name $token")
        contains -- $longer $__leakgate_commands; and set name $longer
    end
    test "$name" = "$argv[1]"
end

function __leakgate_behind_dashes
    contains -- -- (commandline -opc)
end

# The program under test and its arguments, as if they stood alone.
function __leakgate_program
    set -l tokens (commandline -opc)
    set -l dashes (contains -i -- -- $tokens)
    set -l program (string escape -- $tokens[(math $dashes + 1)..-1]) (commandline -ct)
    complete -C (string join ' ' -- $program)
end

function __leakgate_report
    set -l token (string replace -r -- '^--[a-z-]+=' '' (commandline -ct))
    set -l parts (string split -m 1 = -- $token)
    if set -q parts[2]
        printf '%s\n' $parts[1]=(complete -C "'' $parts[2]")
    else
        printf '%s=\n' $__leakgate_formats
    end
end

complete -c leakgate -f
complete -c leakgate -n __leakgate_behind_dashes -a '(__leakgate_program)'
)sh";

std::string FishQuoted(const std::string& text) {
  return "'" + Replaced(Replaced(text, "\\", "\\\\"), "'", "\\'") + "'";
}

// Returns the arguments by which fish offers values.
std::string Arguments(const OptionValue& word, const CommandPage& root) {
  switch (word.kind) {
    case ValueKind::kText:
      return "";
    case ValueKind::kChoice:
      return fmt::format(" -f -a '{}'", Spaced(word.choices));
    case ValueKind::kFile:
      return " -F";
    case ValueKind::kReport:
      return " -f -a '(__leakgate_report)'";
    case ValueKind::kCommand:
      break;
  }
  return fmt::format(" -f -a '{}'", Spaced(WordsFor(word, root)));
}

std::string LineFor(const CommandPage& page) {
  return fmt::format("complete -c leakgate -n \"__leakgate_at '{}'\"", page.prose.name);
}

std::string OptionLine(const CommandPage& page, const Option& option, const CommandPage& root) {
  std::string line = LineFor(page);
  for (const std::string& name : option.names) {
    const bool is_long = name.starts_with("--");
    line += fmt::format(" -{} {}", is_long ? 'l' : 's', name.substr(is_long ? 2 : 1));
  }
  if (!IsFlag(option)) line += " -r" + Arguments(option.value, root);
  return line + fmt::format(" -d {}\n", FishQuoted(FirstSentence(option.description)));
}

std::string CompletionLines(const CommandPage& page, const std::vector<CommandPage>& pages) {
  std::string text;
  for (const std::string& name : page.commands) {
    text += LineFor(page) + fmt::format(" -a {} -d {}\n", LastWord(name),
                                        FishQuoted(PageOf(pages, name).prose.summary));
  }
  for (const Option& it : page.arguments) {
    const std::string arguments = Arguments(it.value, pages.front());
    if (!arguments.empty()) text += LineFor(page) + arguments + '\n';
  }
  for (const Option& option : page.options) text += OptionLine(page, option, pages.front());
  return text;
}

}  // namespace

std::string FishCompletion(const std::vector<CommandPage>& pages) {
  std::string text = "# fish completion for leakgate, as `leakgate completion fish` prints it.\n\n";
  text += "set -g __leakgate_commands";
  for (const CommandPage& page : pages) {
    if (!page.prose.name.empty()) text += ' ' + FishQuoted(page.prose.name);
  }
  text += "\nset -g __leakgate_formats " + Spaced(ReportFormats(pages)) + '\n';
  text += kFunctions;
  for (const CommandPage& page : pages) text += CompletionLines(page, pages);
  return text;
}

}  // namespace leakgate
