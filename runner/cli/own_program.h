// This program: its file, and the arguments that it was started with.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace leakgate {

// Returns a path by which this very program is started again.
[[nodiscard]] std::filesystem::path OwnProgram();

// Returns what follows the program's name, in UTF-8. `count` and `arguments` are main's.
[[nodiscard]] std::vector<std::string> OwnArguments(int count, char** arguments);

}  // namespace leakgate
