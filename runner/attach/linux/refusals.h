// Why a running process cannot be attached to, found out before it is touched.
#pragma once

#include <filesystem>

#include "runner/base/expected.h"

namespace leakgate {

// The error says what to do. Nothing is changed in the process.
[[nodiscard]] Expected<void> RequireAttachable(int pid);

// Whether the process can open the agent's file under its path: it may have another root.
[[nodiscard]] Expected<void> RequireVisible(int pid, const std::filesystem::path& agent);

// Of a process that runs, or is about to, with rights that its file gives.
[[nodiscard]] Error FileRightsError(int pid);

}  // namespace leakgate
