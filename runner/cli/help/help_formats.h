// The pages of the commands, and everything that is written from them: help, manual pages, and
// scripts for shell completion. `pages` are always the pages of all commands. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runner/cli/option_list.h"

namespace leakgate {

// An exit code, a mark, a file or the like, with its meaning.
struct Term {
  std::string term;
  std::string meaning;
};

struct Example {
  std::string says;  // "Only new leaks fail"
  std::string command;
};

// What help and manual pages tell about a command, besides its options (command_prose.cpp). Each
// text is one paragraph in one line. What does not apply to a command is empty.
struct CommandProse {
  std::string name{};     // "budget check"; empty for leakgate itself
  std::string summary{};  // one line, without a full stop
  std::vector<std::string> usages{};
  std::vector<std::string> description{};
  std::vector<std::string> notes{};  // what stands in the usage, explained
  std::string terms_lead{};
  std::vector<Term> terms{};
  std::string exit_lead{};  // before the codes; empty: none
  std::vector<Term> exit_codes{};
  std::vector<Term> environment{};  // of manual pages only, as are the files
  std::vector<Term> files{};
  std::vector<Example> examples{};
};

// Returns the prose of all commands in the order in which it is shown, leakgate itself first.
[[nodiscard]] const std::vector<CommandProse>& AllProse();

// All that is told about one command: its prose, and its options as they are declared.
struct CommandPage {
  CommandProse prose;
  std::vector<std::string> commands;  // their full names, in order: "budget schema", ...
  std::vector<Option> arguments;      // in order
  std::vector<Option> options;        // with the options that all commands have as the last
};

// Returns "leakgate budget check".
[[nodiscard]] std::string FullName(const CommandPage& page);

// Tells whether the command takes a program behind two dashes.
[[nodiscard]] bool TakesProgram(const CommandPage& page);

// Returns the command's own word: "check" of "budget check".
[[nodiscard]] std::string LastWord(const std::string& name);

// Returns the full names of the commands directly below `name`, in the order of the prose.
[[nodiscard]] std::vector<std::string> CommandsBelow(const std::string& name);

// Returns the page of that name. REQUIRES: `pages` has it.
[[nodiscard]] const CommandPage& PageOf(const std::vector<CommandPage>& pages,
                                        const std::string& name);

// Returns what `leakgate --help`, and --help after each command, prints.
[[nodiscard]] std::string HelpText(const CommandPage& page, const std::vector<CommandPage>& pages);

// Returns the pages of the documents by their names for `leakgate help`: "budgets". A page that is
// named like a command has ".md" behind its name.
[[nodiscard]] const std::vector<Term>& DocumentPages();

// Returns what `leakgate help` prints of those pages.
[[nodiscard]] std::string DocumentPagesText();

// Returns how an option is written: "-o, --output FILE", "--confirm=WHEN".
[[nodiscard]] std::string OptionText(const Option& option);

// Returns a manual page in roff, for man(1).
[[nodiscard]] std::string ManPage(const CommandPage& page, const std::vector<CommandPage>& pages);

// Returns the name of a manual page: "leakgate-budget-check".
[[nodiscard]] std::string ManPageName(const CommandPage& page);

// Scripts that have a shell complete leakgate's command line: commands, options and their
// values. Behind two dashes they offer what the program's own completion offers.
[[nodiscard]] std::string BashCompletion(const std::vector<CommandPage>& pages);
[[nodiscard]] std::string ZshCompletion(const std::vector<CommandPage>& pages);
[[nodiscard]] std::string FishCompletion(const std::vector<CommandPage>& pages);

// The rest is for the three scripts.

// Returns `text` with each `from` replaced by `to`.
[[nodiscard]] std::string Replaced(std::string text, std::string_view from, std::string_view to);

// Returns the first sentence without its full stop: so much fits beside an option.
[[nodiscard]] std::string FirstSentence(const std::string& description);

// Returns the words with spaces between them.
[[nodiscard]] std::string Spaced(const std::vector<std::string>& words);

// Returns the last words of the names of the page's commands: "run", "doctor".
[[nodiscard]] std::vector<std::string> CommandWords(const CommandPage& page);

// Returns the words that may stand for a value of ValueKind::kCommand.
[[nodiscard]] std::vector<std::string> WordsFor(const OptionValue& value, const CommandPage& root);

// Returns the formats that --report takes.
[[nodiscard]] std::vector<std::string> ReportFormats(const std::vector<CommandPage>& pages);

}  // namespace leakgate
