// The list of the framework's own memory, for `leakgate framework`.
#pragma once

#include <string>

namespace leakgate {

// A line per rule: name, function, how it matches, why.
[[nodiscard]] std::string FrameworkRulesText();

}  // namespace leakgate
