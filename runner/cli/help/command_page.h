// What there is to say of one command: its words by hand (command_prose.h), and its options as
// they are declared. Help, manual pages and shell completion are written from it.
#pragma once

#include <string>
#include <vector>

#include "runner/cli/app/option_list.h"
#include "runner/cli/help/command_prose.h"

namespace leakgate {

struct CommandPage {
  CommandProse prose;
  std::vector<std::string> commands;  // their full names, in order: "budget schema", ...
  std::vector<Option> arguments;      // what is no option, in order
  std::vector<Option> options;        // --help is the last that all commands have
};

// "leakgate budget check".
[[nodiscard]] std::string FullName(const CommandPage& page);

// Whether a program follows behind two dashes.
[[nodiscard]] bool TakesProgram(const CommandPage& page);

// The command's own word: "check" of "budget check".
[[nodiscard]] std::string LastWord(const std::string& name);

// The full names of the direct commands of `name`, in the order of the prose.
[[nodiscard]] std::vector<std::string> CommandsBelow(const std::string& name);

// The page of that name. REQUIRES: it is there.
[[nodiscard]] const CommandPage& PageOf(const std::vector<CommandPage>& pages,
                                        const std::string& name);

}  // namespace leakgate
