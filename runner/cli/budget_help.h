// What `leakgate budget --help`, its commands' and `leakgate explain --help` say.
#pragma once

#include <string>

namespace leakgate {

[[nodiscard]] std::string BudgetHelpText();
[[nodiscard]] std::string BudgetCheckHelpText();
[[nodiscard]] std::string BudgetInitHelpText();
[[nodiscard]] std::string BudgetRatchetHelpText();
[[nodiscard]] std::string ExplainHelpText();

}  // namespace leakgate
