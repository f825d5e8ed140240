// What this leakgate is, and where its parts are.
#pragma once

#include <filesystem>
#include <string>

namespace leakgate {

// What `leakgate --version` says: "leakgate 0.1.0 (region layout 1)", then lines of how it was
// built: build type and compiler, libraries. No trailing newline.
[[nodiscard]] std::string VersionText();

// "0.1.0"
[[nodiscard]] std::string VersionNumber();

// "2026-11-21", of the build's configuration: the date of manual pages.
[[nodiscard]] std::string BuildDate();

// The agent's library, in ../lib beside the runner, both in the build tree and once installed.
// It may not exist.
[[nodiscard]] std::filesystem::path FindAgent();

}  // namespace leakgate
