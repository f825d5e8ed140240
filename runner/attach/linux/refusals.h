// Finds out why a running process cannot be attached to, before it is touched.
#pragma once

#include <filesystem>

#include "runner/base/expected.h"

namespace leakgate {

// Fails if `pid` cannot be attached to; the error says what to do. Changes nothing in the process.
[[nodiscard]] Expected<void> RequireAttachable(int pid);

// Fails if the process cannot open the agent's file under its path: it may have another root.
[[nodiscard]] Expected<void> RequireVisible(int pid, const std::filesystem::path& agent);

// The error for a process that runs, or is about to, with rights that its file gives.
[[nodiscard]] Error FileRightsError(int pid);

}  // namespace leakgate
