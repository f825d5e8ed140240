// The program's environment: the runner's own, and what tracing needs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runner/base/expected.h"

namespace leakgate {

struct TracingVariables {
  std::filesystem::path agent;
  std::string control_name;
};

// NAME=VALUE, from `inherited` in its order. LD_PRELOAD keeps what it had,
// behind the agent. Error: the agent's path cannot be preloaded.
[[nodiscard]] Expected<std::vector<std::string>> ProgramEnvironment(
    const std::vector<std::string>& inherited, const TracingVariables& tracing);

// This process's own.
[[nodiscard]] std::vector<std::string> OwnEnvironment();

// From now on this process does without `variable`; OwnEnvironment has it still, at its place.
// REQUIRES: one thread. Once.
void DoWithout(const std::string& variable);

}  // namespace leakgate
