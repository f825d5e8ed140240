// The rows of the self-test about call stacks: the agent's, and their lines.
#pragma once

#include <string>

#include "runner/run/self_test.h"

namespace leakgate {

// Compares each stack of the program with what the system's unwinder has found there.
[[nodiscard]] Expected<std::string> TestStacks(const SelfTestRequest& request);

// Compares file, line and inlined function with what the program says of itself. Says so where the
// program has no PDB.
[[nodiscard]] Expected<std::string> TestLines(const SelfTestRequest& request);

}  // namespace leakgate
