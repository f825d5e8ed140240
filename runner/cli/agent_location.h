// Where the agent's library is: beside the runner, in ../lib, both in the build
// tree and once installed.
#pragma once

#include <filesystem>

namespace leakgate {

// Not checked for existence.
[[nodiscard]] std::filesystem::path FindAgent();

}  // namespace leakgate
