// Which parts of a stopped process's heaps are in use, as the system itself says: the thread that
// waits for the runner's answer is let go alone to walk them (common/nt_heap_walk.h). What is not
// in use may have pointers to all that was ever lost.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runner/reach/address_range.h"
#include "runner/reach/nt/stopped_process.h"

namespace leakgate {

struct WalkedHeaps {
  std::vector<std::uint64_t> allocations;  // of the heaps that were walked; sorted
  std::vector<AddressRange> unseen;        // in use, but not recorded; sorted

  [[nodiscard]] bool Has(std::uint64_t allocation) const;
};

// Returns nothing if no thread waits, or if it cannot walk now: then all of a heap may be in use.
// REQUIRES: `asking_tid` is 0, or a thread that waits in the agent for an answer.
[[nodiscard]] std::optional<WalkedHeaps> WalkHeaps(int pid, int asking_tid,
                                                   StoppedProcess& stopped);

}  // namespace leakgate
