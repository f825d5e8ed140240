// Makes the agent the first library of a process that was created suspended. Nothing of the process
// has run yet, not even its libraries' initialisers.
#pragma once

#include <filesystem>

#include "runner/base/expected.h"

namespace leakgate {

// The handles of this process that the agent needs, as HANDLE. They stay the caller's.
struct AgentHandles {
  void* region = nullptr;  // the section of RegionFile
  void* ask = nullptr;     // events that reset themselves (common/nt_agent_block.h)
  void* reply = nullptr;
};

// Has `process` load `agent` first, with duplicates of `handles`. Where the image imports the agent
// itself, only hands it the handles. Fails for an image that is not for x86-64 and where the system
// refuses; then the process must not be resumed. `process` is a HANDLE with all rights.
[[nodiscard]] Expected<void> ImportAgent(void* process, const AgentHandles& handles,
                                         const std::filesystem::path& agent);

}  // namespace leakgate
