// Makes the environment of the program under test: the runner's own, and the variables that tracing
// needs.
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

// Returns variables as NAME=VALUE, in the order of `inherited`. In LD_PRELOAD the agent stands in
// front of what the variable already names. Fails if the agent's path cannot be preloaded.
[[nodiscard]] Expected<std::vector<std::string>> ProgramEnvironment(
    const std::vector<std::string>& inherited, const TracingVariables& tracing);

// Returns this process's own environment.
[[nodiscard]] std::vector<std::string> OwnEnvironment();

// Removes `variable` from this process's environment. OwnEnvironment still returns it, in its
// place. REQUIRES: the process has one thread, and this has not been called before.
void HideVariable(const std::string& variable);

}  // namespace leakgate
