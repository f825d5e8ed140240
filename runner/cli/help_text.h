// What `leakgate --help` and `leakgate run --help` say.
#pragma once

#include <string>

namespace leakgate {

[[nodiscard]] std::string HelpText();
[[nodiscard]] std::string RunHelpText();

}  // namespace leakgate
