// Manual pages in roff, for man(1): leakgate(1), leakgate-run(1), leakgate-budget-check(1)...
#pragma once

#include <string>
#include <vector>

#include "runner/cli/help/command_page.h"

namespace leakgate {

// `pages`: all, for what the page refers to. Pure.
[[nodiscard]] std::string ManPage(const CommandPage& page, const std::vector<CommandPage>& pages);

// "leakgate-budget-check". Pure.
[[nodiscard]] std::string ManPageName(const CommandPage& page);

}  // namespace leakgate
