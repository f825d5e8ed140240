#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runner/cli/help/help_formats.h"

namespace leakgate {
namespace {

// The part of the script that does not depend on the commands. bash splits words at '=' and ':' as
// well, and replaces only what follows the last of them.
constexpr std::string_view kScript = R"sh(
# The words up to the cursor, as leakgate would get them, and where each begins.
__leakgate_split() {
    local rest=${COMP_LINE:0:COMP_POINT} word trimmed i
    words=() starts=()
    for ((i = 0; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        trimmed=${rest#"${rest%%[![:space:]]*}"}
        ((i == COMP_CWORD)) && word=$trimmed
        if ((i == 0)) || [[ $trimmed != "$rest" ]]; then
            words+=("$word") starts+=("$i")
        else
            words[${#words[@]} - 1]+=$word
        fi
        rest=${trimmed#"$word"}
    done
}

# The program under test, and its arguments.
__leakgate_program() {
    if declare -F _command_offset >/dev/null; then
        _command_offset "$1"
        return
    fi
    compopt -o filenames 2>/dev/null
    if ((COMP_CWORD == $1)); then
        mapfile -t COMPREPLY < <(compgen -c -- "$2")
    else
        mapfile -t COMPREPLY < <(compgen -f -- "$2")
    fi
}

# $1: what stands before the value in the word; $2: the value so far.
__leakgate_values() {
    case $kind in
        choice) mapfile -t COMPREPLY < <(compgen -P "$1" -W "$choices" -- "$2") ;;
        file)
            compopt -o filenames 2>/dev/null
            mapfile -t COMPREPLY < <(compgen -P "$1" -f -- "$2")
            ;;
        report)
            if [[ $2 == *=* ]]; then
                kind=file
                __leakgate_values "$1${2%%=*}=" "${2#*=}"
            else
                compopt -o nospace 2>/dev/null
                mapfile -t COMPREPLY < <(compgen -P "$1" -S = -W "$choices" -- "$2")
            fi
            ;;
    esac
}

__leakgate_trim() {
    local whole=$1 i
    for ((i = ${#whole} - 1; i >= 0; i--)); do
        if [[ ${whole:i:1} == [=:] && $COMP_WORDBREAKS == *"${whole:i:1}"* ]]; then
            COMPREPLY=("${COMPREPLY[@]#"${whole:0:i+1}"}")
            return
        fi
    done
}

_leakgate() {
    local words starts command= option= kind choices places=0 i last current
    COMPREPLY=()
    __leakgate_split
    last=$((${#words[@]} - 1))
    current=${words[last]}
    for ((i = 1; i < last; i++)); do
        if [[ -n $option ]]; then
            option=
        elif [[ ${words[i]} == -- ]]; then
            __leakgate_program "${starts[i + 1]}" "$current"
            return
        elif [[ ${words[i]} == -* ]]; then
            __leakgate_option "$command" "${words[i]}" && option=${words[i]}
        elif __leakgate_is_command "$command" "${words[i]}"; then
            command+=${command:+ }${words[i]}
        else
            places=$((places + 1))
        fi
    done
    if [[ -n $option ]]; then
        __leakgate_option "$command" "$option"
        __leakgate_values "" "$current"
    elif [[ $current == --*=* ]]; then
        __leakgate_option "$command" "${current%%=*}" &&
            __leakgate_values "${current%%=*}=" "${current#*=}"
    elif [[ $current != -* ]] && __leakgate_place "$command" "$places"; then
        __leakgate_values "" "$current"
    else
        __leakgate_options "$command"
        mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$current")
    fi
    __leakgate_trim "$current"
}

complete -F _leakgate leakgate
)sh";

std::string Completer(const OptionValue& word, const std::vector<CommandPage>& pages) {
  switch (word.kind) {
    case ValueKind::kText:
      return "kind=text";
    case ValueKind::kChoice:
      return fmt::format("kind=choice choices='{}'", Spaced(word.choices));
    case ValueKind::kFile:
      return "kind=file";
    case ValueKind::kReport:
      return fmt::format("kind=report choices='{}'", Spaced(word.choices));
    case ValueKind::kCommand:
      break;
  }
  return fmt::format("kind=choice choices='{}'", Spaced(WordsFor(word, pages.front())));
}

// The shell function sets kind and choices of an option that takes a value; else it fails.
std::string OptionCases(const std::vector<CommandPage>& pages) {
  std::string cases;
  for (const CommandPage& page : pages) {
    for (const Option& option : page.options) {
      if (IsFlag(option)) continue;
      std::vector<std::string> patterns;
      for (const std::string& name : option.names) {
        patterns.push_back(fmt::format("'{} {}'", page.prose.name, name));
      }
      cases += fmt::format("        {}) {} ;;\n", fmt::join(patterns, " | "),
                           Completer(option.value, pages));
    }
  }
  return cases;
}

// A word that is no option is a command, or an argument by its place in the usage.
std::string PlaceCases(const std::vector<CommandPage>& pages) {
  std::string cases;
  for (const CommandPage& page : pages) {
    if (!page.commands.empty()) {
      cases += fmt::format("        '{} '*) kind=choice choices='{}' ;;\n", page.prose.name,
                           Spaced(CommandWords(page)));
    }
    for (std::size_t i = 0; i < page.arguments.size(); ++i) {
      const bool is_any = page.arguments[i].is_repeated;
      cases +=
          fmt::format("        '{} '{}) {} ;;\n", page.prose.name, is_any ? "*" : std::to_string(i),
                      Completer(page.arguments[i].value, pages));
    }
  }
  return cases;
}

std::string CommandPatterns(const std::vector<CommandPage>& pages) {
  std::vector<std::string> patterns;
  for (const CommandPage& page : pages) {
    for (const std::string& word : CommandWords(page)) {
      patterns.push_back(fmt::format("'{} {}'", page.prose.name, word));
    }
  }
  return fmt::format("{}", fmt::join(patterns, " | "));
}

std::string OptionLists(const std::vector<CommandPage>& pages) {
  std::string cases;
  for (const CommandPage& page : pages) {
    std::vector<std::string> names;
    for (const Option& option : page.options) {
      names.insert(names.end(), option.names.begin(), option.names.end());
    }
    if (TakesProgram(page)) names.emplace_back("--");
    cases += fmt::format("        '{}') choices='{}' ;;\n", page.prose.name, Spaced(names));
  }
  return cases;
}

std::string Function(std::string_view name, std::string_view comment, std::string_view word,
                     const std::string& cases, std::string_view otherwise) {
  return fmt::format("\n# {}\n{}() {{\n    choices=\n    case {} in\n{}{}    esac\n}}\n", comment,
                     name, word, cases, otherwise);
}

}  // namespace

std::string BashCompletion(const std::vector<CommandPage>& pages) {
  constexpr std::string_view kNoOther = "        *) return 1 ;;\n";
  std::string text = "# bash completion for leakgate, as `leakgate completion bash` prints it.\n";
  text += Function("__leakgate_option", "Whether an option of a command takes a value, and which.",
                   "\"$1 $2\"", OptionCases(pages), kNoOther);
  text += Function("__leakgate_place", "What the word at a place of a command may be.", "\"$1 $2\"",
                   PlaceCases(pages), kNoOther);
  text +=
      Function("__leakgate_is_command", "Whether a word is a command of a command.", "\"$1 $2\"",
               fmt::format("        {}) return 0 ;;\n", CommandPatterns(pages)), kNoOther);
  text +=
      Function("__leakgate_options", "The options of a command.", "\"$1\"", OptionLists(pages), "");
  return text + std::string(kScript);
}

std::string Replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

std::string FirstSentence(const std::string& description) {
  return description.substr(0, description.find(". "));
}

std::string Spaced(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, " "));
}

std::vector<std::string> CommandWords(const CommandPage& page) {
  std::vector<std::string> words;
  for (const std::string& name : page.commands) words.push_back(LastWord(name));
  return words;
}

std::vector<std::string> WordsFor(const OptionValue& value, const CommandPage& root) {
  std::vector<std::string> words = CommandWords(root);
  words.insert(words.end(), value.choices.begin(), value.choices.end());
  return words;
}

std::vector<std::string> ReportFormats(const std::vector<CommandPage>& pages) {
  for (const CommandPage& page : pages) {
    for (const Option& option : page.options) {
      if (option.value.kind == ValueKind::kReport) return option.value.choices;
    }
  }
  return {};
}

}  // namespace leakgate
