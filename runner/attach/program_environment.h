// The environment of the program under test: the runner's own, and what tracing needs.
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

// Returns variables as NAME=VALUE, in the order of `inherited`. LD_PRELOAD keeps what it had,
// behind the agent. Fails if the agent's path cannot be preloaded.
[[nodiscard]] Expected<std::vector<std::string>> ProgramEnvironment(
    const std::vector<std::string>& inherited, const TracingVariables& tracing);

// Returns this process's own environment.
[[nodiscard]] std::vector<std::string> OwnEnvironment();

// Takes `variable` out of this process's environment. OwnEnvironment still has it, in its place.
// REQUIRES: the process has one thread, and this has not been called before.
void HideVariable(const std::string& variable);

}  // namespace leakgate
