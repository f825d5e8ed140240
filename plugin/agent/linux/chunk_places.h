// Where the agent has mapped each chunk of the live map, by the index in the region's directory.
// On Linux, that is one array of 32 MiB, of which only what is used costs memory.
#pragma once

#include <atomic>
#include <cstdint>

#include "common/region_layout.h"
#include "plugin/agent/arch/processor.h"

#include LEAKGATE_AGENT(syscall)
#include LEAKGATE_ARCH(memory)

namespace leakgate::agent {

class ChunkPlaces {
 public:
  using Place = std::atomic<std::uint32_t>*;

  // Returns nullptr if there is no such chunk. Acquire pairs with the release in Set.
  Place At(std::uint64_t index) {
    return std::atomic_ref(places_[index]).load(std::memory_order_acquire);
  }

  // Must be called before all others; forgets all. REQUIRES: no thread records.
  void Start(bool is_first) {
    if (!is_first) ClearPages(places_, sizeof(places_));
  }

  // Returns false if there is no memory. REQUIRES: one thread at a time makes room and sets.
  static constexpr bool MakeRoomAt(std::uint64_t) { return true; }
  // REQUIRES: there is room.
  void Set(std::uint64_t index, Place place) {
    std::atomic_ref(places_[index]).store(place, std::memory_order_release);
  }

 private:
  // Used through std::atomic_ref.
  alignas(kLargestPageBytes) Place places_[kDirectoryEntries] = {};
};

}  // namespace leakgate::agent
