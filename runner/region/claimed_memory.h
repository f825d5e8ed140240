// Whether a process can have the blocks that its live map claims. Whoever scribbles on the map can
// claim billions of them for nothing, and each takes memory of the runner's. So what is claimed is
// compared with what the kernel says the process has, now and then while the map is read:
//
//   64 MiB of addresses    blocks in them * 32 B   <= what is mapped there
//   the whole process      blocks * 32 B           <= what it has in memory or swapped out, + 32
//   MiB
//                          blocks                  <= 2 * (allocated - freed) + 1 million
//
// A block has 32 bytes at least, and its allocator writes into them, or next to them. Few blocks
// are not asked about, so that none of this costs a small program anything.
//
// Of a process that has gone, the kernel tells nothing: it may have twice the blocks that it was
// seen to have, or four millions.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

namespace leakgate {

// What is known of a process's memory; shared by all readers of its region. Any thread.
struct SeenMemory {
  std::atomic<std::uint64_t> most_blocks{0};  // that it was seen to have while it lived
  std::atomic<bool> is_refuted{false};        // it has claimed what cannot be
};

// One reading of the live map. Used by one thread.
class ClaimedMemory {
 public:
  // `counted` blocks are live by the process's own counts.
  ClaimedMemory(int pid, std::uint64_t counted, std::shared_ptr<SeenMemory> seen)
      : pid_(pid), counted_(counted), seen_(std::move(seen)) {}

  // Adds the blocks that begin in [begin, begin + bytes). Returns false if there cannot be so many.
  // `count_again` counts them anew: the process may have freed and unmapped them since.
  using CountAgain = std::function<std::uint64_t()>;
  [[nodiscard]] bool Add(std::uint64_t begin, std::uint64_t bytes, std::uint64_t blocks,
                         const CountAgain& count_again);

  // Call it once all of the map has been read.
  void NoteAll();

 private:
  [[nodiscard]] bool IsMappedFor(std::uint64_t begin, std::uint64_t bytes,
                                 std::uint64_t blocks) const;
  [[nodiscard]] bool HasMemoryFor(std::uint64_t blocks) const;

  const int pid_;
  const std::uint64_t counted_;
  const std::shared_ptr<SeenMemory> seen_;
  std::uint64_t blocks_ = 0;
  std::uint64_t proved_ = 0;  // as many are known to be possible
};

}  // namespace leakgate
