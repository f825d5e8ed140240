// Checks whether a process can have the blocks that its live map claims. A process that overwrites
// the map can claim billions of blocks at no cost, and each takes memory of the runner. So from
// time to time while the map is read, the claim is compared with what the kernel says the process
// has:
//
//   64 MiB of addresses    blocks in them * 32 B   <= what is mapped there
//   the whole process      blocks * 32 B           <= its memory, swapped out or not, + 32 MiB
//                          blocks                  <= 2 * (allocated - freed) + 1 million
//
// A block has at least 32 bytes, and its allocator writes into them, or next to them. Of a pool's
// block, which may have one byte, the two words of its slot are the process's memory: four of those
// count as one. A few blocks are not checked, so that small programs have no costs.
//
// The kernel says nothing about a process that has ended: it may have twice the blocks that it was
// seen to have, or four millions.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

namespace leakgate {

// What is known of a process's memory; shared by all readers of its region. Any thread may use it.
struct SeenMemory {
  std::atomic<std::uint64_t> most_blocks{0};  // the most that it was seen to have while it lived
  std::atomic<bool> is_refuted{false};        // it has claimed blocks that it cannot have
};

// One reading of the live map. Used by one thread.
class ClaimedMemory {
 public:
  // `counted` blocks are live by the process's own counts.
  ClaimedMemory(int pid, std::uint64_t counted, std::shared_ptr<SeenMemory> seen)
      : pid_(pid), counted_(counted), seen_(std::move(seen)) {}

  // Adds the blocks that begin in [begin, begin + bytes). Returns false if there cannot be so many.
  // `count_again` counts them again: the process may have freed and unmapped them since.
  using CountAgain = std::function<std::uint64_t()>;
  [[nodiscard]] bool Add(std::uint64_t begin, std::uint64_t bytes, std::uint64_t blocks,
                         const CountAgain& count_again);

  // Does the same for blocks of pools.
  [[nodiscard]] bool AddPooled(std::uint64_t blocks);

  // Must be called once all of the map has been read.
  void NoteAll();

 private:
  [[nodiscard]] bool IsMappedFor(std::uint64_t begin, std::uint64_t bytes,
                                 std::uint64_t blocks) const;
  [[nodiscard]] bool HasMemoryFor(std::uint64_t blocks) const;
  [[nodiscard]] bool AddToAll(std::uint64_t blocks, bool is_possible);

  const int pid_;
  const std::uint64_t counted_;
  const std::shared_ptr<SeenMemory> seen_;
  std::uint64_t blocks_ = 0;
  std::uint64_t proved_ = 0;  // so many blocks are known to be possible
};

}  // namespace leakgate
