// What there is to say of one command: its words by hand (command_prose.h), its options as
// the parser has them. Help, manual pages and shell completion are written from it.
#pragma once

#include <string>
#include <vector>

namespace leakgate {

// Something, and what it means: an exit code, a mark, a file.
struct Term {
  std::string term;
  std::string meaning;
};

struct Example {
  std::string says;  // "Only new leaks fail"
  std::string command;
};

// One paragraph is one line; empty where there is nothing to say.
struct CommandProse {
  std::string name{};     // "budget check"; of leakgate itself empty
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

struct OptionEntry {
  std::vector<std::string> names;  // "-o", "--output"
  std::string value;               // "FILE"; of a flag empty
  std::string description;

  friend bool operator==(const OptionEntry&, const OptionEntry&) = default;
};

struct PositionalEntry {
  std::string value;  // "RESULT"
  bool is_repeated = false;
};

struct CommandPage {
  CommandProse prose;
  std::vector<std::string> commands;  // their full names, in order: "budget schema", ...
  std::vector<PositionalEntry> positionals;
  std::vector<OptionEntry> options;  // --help is the last
};

// All commands, leakgate itself first, each before its own.
[[nodiscard]] std::vector<CommandPage> AllPages();

// "leakgate budget check".
[[nodiscard]] std::string FullName(const CommandPage& page);

// Whether a program follows behind two dashes.
[[nodiscard]] bool TakesProgram(const CommandPage& page);

// The command's own word: "check" of "budget check".
[[nodiscard]] std::string LastWord(const std::string& name);

// The page of that name. REQUIRES: it is there.
[[nodiscard]] const CommandPage& PageOf(const std::vector<CommandPage>& pages,
                                        const std::string& name);

}  // namespace leakgate
