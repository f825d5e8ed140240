// A little memory for what the dynamic linker allocates while the agent asks it for the host's
// malloc. The memory is never freed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/region_layout.h"
#include "plugin/agent/base/visibility.h"

namespace leakgate::agent::bootstrap_heap {

inline constexpr std::size_t kBytes = 64 * 1024;
extern LEAKGATE_INTERNAL char g_memory[kBytes];

// Returns zeroed memory, aligned to 16; nullptr when the heap is used up.
void* Allocate(std::size_t bytes);
inline bool Owns(const void* block) {
  return reinterpret_cast<std::uintptr_t>(block) - reinterpret_cast<std::uintptr_t>(g_memory) <
         kBytes;
}

// Returns where the heap is. Pointers that the program keeps there count as its own.
inline KeptRange Memory() {
  const auto begin = reinterpret_cast<std::uint64_t>(g_memory);
  return {begin, begin + kBytes};
}

// The number of bytes that may be read at `block`. REQUIRES: Owns(block).
std::size_t Readable(const void* block);

}  // namespace leakgate::agent::bootstrap_heap
