// Executes a program in place of this one (session exec).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace leakgate {

// Returns only on failure, with the system's message. The program inherits all that this process
// has, but for the environment.
[[nodiscard]] std::string ReplaceProcess(const std::filesystem::path& program,
                                         std::vector<std::string> arguments,
                                         std::vector<std::string> environment);

}  // namespace leakgate
