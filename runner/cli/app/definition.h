// The one definition of leakgate's command line: which commands there are, with their options.
// The parser works with it, and help, manual pages and shell completion are written from it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "runner/base/expected.h"
#include "runner/cli/app/command.h"
#include "runner/cli/app/option_list.h"
#include "runner/cli/help/command_page.h"

namespace leakgate {

struct CommandDefinition {
  std::string name;    // "budget check"
  OptionList options;  // reading one of them changes what `complete` returns
  // What the options and the program come to, once all options have been read. Empty: the
  // command is only a group of others.
  std::function<Expected<Command>(const ProgramLine& program)> complete;
};

// A group stands before its commands. Each call defines commands of its own.
[[nodiscard]] std::vector<CommandDefinition> DefineCommands();

// What there is to say of all commands, of leakgate itself first, of each before its own.
[[nodiscard]] std::vector<CommandPage> AllPages();

// The options that all commands have: --help, and of leakgate itself --version.
[[nodiscard]] std::vector<Option> GeneralOptions(const std::string& command);

}  // namespace leakgate
