// Finds out why a running process cannot be attached to, before anything in it is touched.
#pragma once

#include <filesystem>

#include "runner/base/expected.h"

namespace leakgate {

// Fails if `pid` cannot be attached to; the error says what to do. Changes nothing in the process.
[[nodiscard]] Expected<void> RequireAttachable(int pid);

// The same for a program that is about to begin, as far as it can be known then. REQUIRES: the
// calling thread traces the process.
[[nodiscard]] Expected<void> RequireBeginnable(int pid);

// Fails if the process is in another network namespace, where its agent finds no control server.
[[nodiscard]] Expected<void> RequireOurNetwork(int pid);

// Fails if the process does not see the agent's file under its path, because it has another root
// directory.
[[nodiscard]] Expected<void> RequireVisible(int pid, const std::filesystem::path& agent);

// Returns the error for a process that runs with rights that its file gives, or is about to.
[[nodiscard]] Error FileRightsError(int pid);

// Returns why the kernel refused to stop a thread of `pid`, and what to do. `error` is the errno.
[[nodiscard]] Error StopError(int pid, int error);

}  // namespace leakgate
