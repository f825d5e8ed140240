// What `leakgate --version` says.
#pragma once

#include <string>

namespace leakgate {

// "leakgate 0.1.0 (region layout 1)", then lines of how it was built: build type and
// compiler, libraries. No trailing newline.
[[nodiscard]] std::string VersionText();

// "0.1.0"
[[nodiscard]] std::string VersionNumber();

// "2026-11-21", of the build's configuration: the date of manual pages.
[[nodiscard]] std::string BuildDate();

}  // namespace leakgate
