// What `leakgate --version` says.
#pragma once

#include <string>

namespace leakgate {

// "leakgate 0.1.0 (region layout 1)"
[[nodiscard]] std::string VersionText();

// "0.1.0"
[[nodiscard]] std::string VersionNumber();

}  // namespace leakgate
