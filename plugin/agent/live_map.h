// The live allocations of the test process, by address: no hash, no lock.
//
//   address -> chunk (>> 26, through the directory) -> word (>> 4 within it)
//
// The words are in the region, so the runner can read them while the process
// runs and after it has died; how one block is written is in
// common/live_slot.h. Lock-free but for the first block in a new chunk: an
// address has one owner until it is freed, so its slot has one writer. Never
// allocates. When no slot can be had the caller's drop is counted here.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "common/live_slot.h"
#include "plugin/agent/region.h"
#include "plugin/agent/spin_lock.h"

namespace leakgate::agent {

struct LiveEntry {
  LiveStart start;
  LiveRest rest;
};

class LiveMap {
 public:
  // `first_chunk` is the mapping of the region's chunk 0.
  void Start(void* first_chunk);

  // Records `entry` as live at `address`. `replaced` is set to what was known
  // to be live there: a block whose free was not seen. False: dropped.
  [[nodiscard]] bool Insert(std::uint64_t address, const LiveEntry& entry,
                            std::optional<LiveEntry>& replaced);

  // Forgets the block at `address`; what was known of it, or nullopt if it was
  // never recorded (made before tracing, or dropped).
  std::optional<LiveEntry> Erase(std::uint64_t address);

  // What is known of the block at `address`.
  std::optional<LiveEntry> Find(std::uint64_t address) const;

 private:
  using Word = std::atomic<std::uint64_t>;

  Word* Slot(std::uint64_t address) const;
  Word* SlotOrNewChunk(std::uint64_t address);
  Word* MapChunk(std::uint64_t directory_index);

  SpinLock lock_;
  Word* last_chunk_ = nullptr;  // the chunk mapped last
};

extern LiveMap g_live_map;

}  // namespace leakgate::agent
