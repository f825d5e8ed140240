// What the thread that waits for the runner's answer may be asked for meanwhile on Windows: which
// parts of the heaps are in use. Only the system's own functions know, and only within the process.
//
//   runner   stops all threads; writes `wanted`, lets this one go, wakes it
//   agent    walks the heaps, writes `ranges`, then `done`; waits again
//   runner   stops the thread; from here on nothing has changed
//
// If a stopped thread is just using a heap, the agent waits for it: the runner sees that `steps`
// stands still, and does without; it does not ask again for the same question, since the agent may
// not have noticed that yet. Heaps that the program has locked by itself, or that have no lock, are
// left out, and all are once a thread was ended by another one, since no wait for a lock that it
// held would end. It is in the mailbox's text, which the answer overwrites.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "common/region_layout.h"

namespace leakgate {

// A part of a heap that is in use, although the agent has recorded no block that begins there. With
// `end` 0, `begin` is that of an allocation of the system's in which a heap lies that was walked.
struct NtHeapRange {
  std::uint64_t begin;
  std::uint64_t end;
};

struct NtHeapWalk {
  static constexpr std::uint32_t kMostRanges = 3800;

  // NtHeapWalkOf the question that is being answered; otherwise nothing is wanted. Release, and
  // acquire in the agent.
  std::atomic<std::uint32_t> wanted;
  std::atomic<std::uint32_t> done;   // the same, once `ranges` are there; release, and acquire
  std::atomic<std::uint32_t> steps;  // counted while it walks
  std::uint32_t range_count;
  std::uint64_t reserved;
  NtHeapRange ranges[kMostRanges];
};
static_assert(sizeof(NtHeapWalk) <= Mailbox::kTextCapacity);

constexpr std::uint32_t NtHeapWalkOf(std::uint32_t request) { return request ^ 0x6b6c'6177; }

inline NtHeapWalk& HeapWalkIn(Mailbox& mailbox) {
  static_assert(offsetof(Mailbox, text) % alignof(NtHeapWalk) == 0);
  return *reinterpret_cast<NtHeapWalk*>(mailbox.text);
}

}  // namespace leakgate
