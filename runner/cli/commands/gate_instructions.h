// What `leakgate adopt` says at its end: how the gate is run with what it has written.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace leakgate {

// As they were typed.
struct GateFiles {
  std::optional<std::filesystem::path> budgets;
  std::optional<std::filesystem::path> baseline;
};

// Returns the commands for `binaries`, and the lines for CMakeLists.txt.
[[nodiscard]] std::string GateInstructions(const GateFiles& files,
                                           const std::vector<std::string>& binaries);

// Returns `path` as CMakeLists.txt names it: below ${CMAKE_SOURCE_DIR} if that can be told, since
// others have the project elsewhere. `directory` is the current one: the project is the outermost
// folder of it and those above that each have a CMakeLists.txt.
[[nodiscard]] std::string CmakePath(const std::filesystem::path& path,
                                    const std::filesystem::path& directory);

}  // namespace leakgate
