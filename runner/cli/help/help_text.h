// What `leakgate --help`, and --help after each command, says.
#pragma once

#include <string>
#include <vector>

#include "runner/cli/help/command_page.h"

namespace leakgate {

// `pages`: all, for the summaries of the page's own commands. Pure.
[[nodiscard]] std::string HelpText(const CommandPage& page, const std::vector<CommandPage>& pages);

// How an option is written: "-o, --output FILE", "--confirm=WHEN". Pure.
[[nodiscard]] std::string OptionText(const Option& option);

}  // namespace leakgate
