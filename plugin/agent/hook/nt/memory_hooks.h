// The hooks on the calls by which the program maps memory itself: VirtualAlloc, VirtualFree,
// MapViewOfFile and UnmapViewOfFile, with their newer forms, arrive at functions of ntdll. What
// ntdll maps for its heaps, for libraries and for threads' stacks does not go through these hooks.
//
//   MEM_RESERVE               a piece that is only reserved
//   MEM_COMMIT                committed from now on, by this call; what is committed already stays
//   MEM_DECOMMIT              only reserved again
//   MEM_RELEASE, unmapping    gone
//
// The agent's own calls go past the hooks (nt/ntdll.h).
#pragma once

#include <cstddef>

#include "plugin/agent/hook/nt/import_slots.h"

namespace leakgate::agent {

inline constexpr std::size_t kMemoryHooks = 7;

// Fills in which functions lead where. A function that this Windows does not have is left out.
void ListMemoryHooks(SlotChange (&hooks)[kMemoryHooks]);

}  // namespace leakgate::agent
