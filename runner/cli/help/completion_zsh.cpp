#include <fmt/format.h>

#include <algorithm>

#include "runner/cli/help/help_formats.h"

namespace leakgate {
namespace {

constexpr std::string_view kHead = R"sh(#compdef leakgate
# zsh completion for leakgate, as `leakgate completion zsh` prints it.

)sh";

// The program behind two dashes is completed as if it stood alone.
constexpr std::string_view kTail = R"sh(
_leakgate() {
  local dashes=${words[(i)--]}
  if (( dashes < CURRENT )); then
    words=("${(@)words[dashes + 1, -1]}")
    (( CURRENT -= dashes ))
    _normal
    return
  fi
  __leakgate
}

if [[ $funcstack[1] == _leakgate ]]; then
  _leakgate "$@"
else
  compdef _leakgate leakgate
fi
)sh";

std::string ZshQuoted(const std::string& text) { return "'" + Replaced(text, "'", "'\\''") + "'"; }

std::string FunctionName(const CommandPage& page) {
  return page.prose.name.empty() ? "__leakgate"
                                 : "__leakgate_" + Replaced(page.prose.name, " ", "_");
}

// Returns what follows the ':' in the specification of an argument.
std::string Action(const OptionValue& word, const CommandPage& root) {
  switch (word.kind) {
    case ValueKind::kText:
      return " ";
    case ValueKind::kChoice:
      return fmt::format("({})", Spaced(word.choices));
    case ValueKind::kFile:
      return "_files";
    case ValueKind::kReport:
      return "__leakgate_report";
    case ValueKind::kCommand:
      break;
  }
  return fmt::format("({})", Spaced(WordsFor(word, root)));
}

std::string OptionSpecs(const Option& option, const CommandPage& root) {
  std::string description = FirstSentence(option.description);
  for (const char* const special : {"\\", "[", "]"}) {
    description = Replaced(description, special, std::string("\\") + special);
  }
  std::string specs;
  for (const std::string& name : option.names) {
    std::string spec = option.is_repeated ? "*" : fmt::format("({})", Spaced(option.names));
    spec += name;
    if (!IsFlag(option) && name.starts_with("--")) spec += '=';
    spec += fmt::format("[{}]", description);
    if (!IsFlag(option)) {
      spec += fmt::format(":{}:{}", option.value.word, Action(option.value, root));
    }
    specs += " \\\n    " + ZshQuoted(spec);
  }
  return specs;
}

std::string PlaceSpecs(const CommandPage& page, const CommandPage& root) {
  std::string specs;
  for (std::size_t i = 0; i < page.arguments.size(); ++i) {
    const Option& it = page.arguments[i];
    specs += " \\\n    " +
             ZshQuoted(fmt::format("{}:{}:{}", it.is_repeated ? "*" : std::to_string(i + 1),
                                   it.value.word, Action(it.value, root)));
  }
  if (page.arguments.empty() && TakesProgram(page)) specs += " \\\n    '1:two dashes:(--)'";
  return specs;
}

// Offers a command's own commands, each with its summary, and what follows each of them.
std::string ZshCommands(const CommandPage& page, const std::vector<CommandPage>& pages) {
  std::string listed;
  std::string cases;
  for (const std::string& name : page.commands) {
    const CommandPage& command = PageOf(pages, name);
    listed += fmt::format("\n    {}", ZshQuoted(LastWord(name) + ":" + command.prose.summary));
    cases += fmt::format("    {}) {} ;;\n", LastWord(name), FunctionName(command));
  }
  return fmt::format(
      "  local -a commands=({}\n  )\n"
      "  if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then\n"
      "    _describe -t commands command commands\n    return\n  fi\n"
      "  local name=$words[2]\n"
      "  if (( CURRENT > 2 )) && (( $+functions[{}_$name] )); then\n"
      "    shift words\n    (( CURRENT-- ))\n  else\n    name=\n  fi\n"
      "  case $name in\n{}",
      listed, FunctionName(page), cases);
}

std::string Function(const CommandPage& page, const std::vector<CommandPage>& pages) {
  const bool has_commands = !page.commands.empty();
  std::string arguments = "_arguments -s :";
  for (const Option& option : page.options) arguments += OptionSpecs(option, pages.front());
  arguments += PlaceSpecs(page, pages.front());
  std::string body;
  if (has_commands) {
    body = ZshCommands(page, pages) + "    *) " + arguments + " ;;\n  esac\n";
  } else {
    body = "  " + arguments + '\n';
  }
  return fmt::format("\n{}() {{\n{}}}\n", FunctionName(page), body);
}

}  // namespace

std::string ZshCompletion(const std::vector<CommandPage>& pages) {
  std::string text(kHead);
  text += fmt::format(
      "__leakgate_report() {{\n  local -a formats=({})\n"
      "  if compset -P '*='; then\n    _files\n  else\n    compadd -S = -a formats\n  fi\n}}\n",
      Spaced(ReportFormats(pages)));
  for (const CommandPage& page : pages) text += Function(page, pages);
  return text + std::string(kTail);
}

}  // namespace leakgate
