// Finds the program to run, as a shell would.
#pragma once

#include <filesystem>
#include <string>

#include "runner/base/expected.h"

namespace leakgate {

// `name` itself if it has a slash, else the first executable of that name in
// PATH. A usage error if there is none, or it cannot be executed.
[[nodiscard]] Expected<std::filesystem::path> FindProgram(const std::string& name);

}  // namespace leakgate
