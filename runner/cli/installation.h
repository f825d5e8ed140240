// Tells the version of this leakgate, and where its agent is.
#pragma once

#include <filesystem>
#include <string>

namespace leakgate {

// Returns what `leakgate --version` prints, without a trailing newline: "leakgate 0.1.0 (region
// layout 1)", then lines with build type, compiler and libraries.
[[nodiscard]] std::string VersionText();

// "0.1.0"
[[nodiscard]] std::string VersionNumber();

// Returns the date on which the build was configured, "2026-11-21". Manual pages have it.
[[nodiscard]] std::string BuildDate();

// Returns the path of the agent's library: ../lib beside the runner's folder, both in the build
// tree and installed. The library may not exist.
[[nodiscard]] std::filesystem::path FindAgent();

// Returns the folder of the programs that `leakgate doctor --self-test` traces, found likewise.
[[nodiscard]] std::filesystem::path FindSelfTest();

// Returns the path of a page of the documents, "budgets" for docs/budgets.md. It is found as the
// agent is, and may not exist.
[[nodiscard]] std::filesystem::path FindDocument(const std::string& name);

}  // namespace leakgate
