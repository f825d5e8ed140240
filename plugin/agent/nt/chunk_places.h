// Where the agent has mapped each chunk of the live map, by the index in the region's directory.
//
// Memory of a library is charged as a whole, so there are two levels:
//
//   address  >> 34  one of 8,192 parts      -> `nowhere_`, or an array of the part's own
//            >> 22  one of its 4,096 chunks -> where it is, or nullptr
//
// `nowhere_` is an array of nullptr, so that At needs no test. None of this leads to a block of the
// program, so it need not be told as the agent's own memory.
#pragma once

#include <atomic>
#include <cstdint>

#include "common/region_layout.h"
#include "plugin/agent/nt/syscall.h"

namespace leakgate::agent {

class ChunkPlaces {
 public:
  using Place = std::atomic<std::uint32_t>*;

  // Returns nullptr if there is no such chunk. Acquire pairs with the release in Set, and that in
  // MakeRoomAt.
  Place At(std::uint64_t index) {
    const Part& part = *parts_[index >> kPartShift].load(std::memory_order_acquire);
    return part.places[index % kPlacesOfPart].load(std::memory_order_acquire);
  }

  // Must be called before all others.
  void Start(bool /*is_first*/) {
    for (std::atomic<Part*>& part : parts_) part.store(&nowhere_, std::memory_order_relaxed);
  }

  // Returns false if there is no memory. REQUIRES: one thread at a time makes room and sets.
  bool MakeRoomAt(std::uint64_t index) {
    std::atomic<Part*>& part = parts_[index >> kPartShift];
    if (part.load(std::memory_order_relaxed) != &nowhere_) return true;
    auto* const made = static_cast<Part*>(MapPrivate(sizeof(Part)));
    if (made != nullptr) part.store(made, std::memory_order_release);
    return made != nullptr;
  }
  // REQUIRES: there is room.
  void Set(std::uint64_t index, Place place) {
    Part& part = *parts_[index >> kPartShift].load(std::memory_order_relaxed);
    part.places[index % kPlacesOfPart].store(place, std::memory_order_release);
  }

 private:
  static constexpr std::uint32_t kPartShift = 12;
  static constexpr std::uint64_t kPlacesOfPart = 1ULL << kPartShift;

  struct Part {
    std::atomic<Place> places[kPlacesOfPart];
  };

  std::atomic<Part*> parts_[kDirectoryEntries >> kPartShift];
  Part nowhere_;
};

}  // namespace leakgate::agent
