// All that is told about one command: its prose (command_prose.h), and its options as they are
// declared. Help, manual pages and shell completion are written from it.
#pragma once

#include <string>
#include <vector>

#include "runner/cli/app/option_list.h"
#include "runner/cli/help/command_prose.h"

namespace leakgate {

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

}  // namespace leakgate
