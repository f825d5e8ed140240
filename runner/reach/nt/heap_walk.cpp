#include "runner/reach/nt/heap_walk.h"

#include <windows.h>

#include <algorithm>
#include <chrono>

#include "common/nt_heap_walk.h"
#include "runner/region/nt/waiting_agent.h"

namespace leakgate {
namespace {

using Clock = std::chrono::steady_clock;

// Returns whether the walk is done. It is given up if it stands still, or takes too long: the other
// threads wait.
bool AwaitWalk(const NtHeapWalk& walk, std::uint32_t wanted) {
  constexpr auto kLongestStandstill = std::chrono::milliseconds(200);
  constexpr auto kLongest = std::chrono::seconds(10);
  const Clock::time_point begin = Clock::now();
  Clock::time_point moved = begin;
  std::uint32_t steps = walk.steps.load(std::memory_order_relaxed);
  for (;;) {
    // Acquire pairs with the agent's release.
    if (walk.done.load(std::memory_order_acquire) == wanted) return true;
    const Clock::time_point now = Clock::now();
    if (walk.steps.load(std::memory_order_relaxed) != steps) moved = now;
    steps = walk.steps.load(std::memory_order_relaxed);
    if (now - moved > kLongestStandstill || now - begin > kLongest) return false;
    ::Sleep(1);
  }
}

// The process may write anything there.
WalkedHeaps Read(const NtHeapWalk& walk) {
  WalkedHeaps heaps;
  const std::uint32_t count = std::min(walk.range_count, NtHeapWalk::kMostRanges);
  for (std::uint32_t i = 0; i < count; ++i) {
    const NtHeapRange range = walk.ranges[i];
    if (range.end == 0) {
      heaps.allocations.push_back(range.begin);
    } else if (range.begin < range.end) {
      heaps.unseen.push_back({range.begin, range.end});
    }
  }
  std::sort(heaps.allocations.begin(), heaps.allocations.end());
  std::sort(heaps.unseen.begin(), heaps.unseen.end(),
            [](const AddressRange& a, const AddressRange& b) { return a.begin < b.begin; });
  return heaps;
}

}  // namespace

bool WalkedHeaps::Has(std::uint64_t allocation) const {
  return std::binary_search(allocations.begin(), allocations.end(), allocation);
}

std::optional<WalkedHeaps> WalkHeaps(int pid, int asking_tid, StoppedProcess& stopped) {
  const std::optional<WaitingAgent> agent = FindWaitingAgent(pid);
  if (asking_tid == 0 || !agent) return std::nullopt;
  Mailbox& mailbox = *agent->mailbox;
  NtHeapWalk& walk = HeapWalkIn(mailbox);
  const std::uint32_t wanted = NtHeapWalkOf(mailbox.request.load(std::memory_order_relaxed));
  // One that was given up may still be going on.
  if (walk.wanted.load(std::memory_order_relaxed) == ~wanted) return std::nullopt;
  walk.done.store(~wanted, std::memory_order_relaxed);
  // Release pairs with the agent's acquire.
  walk.wanted.store(wanted, std::memory_order_release);
  if (!stopped.LetGo(asking_tid)) return std::nullopt;
  ::SetEvent(agent->answered);
  const bool is_done = AwaitWalk(walk, wanted);
  // A walk that still waits for a lock ends at once when it has got that.
  if (!is_done) walk.wanted.store(~wanted, std::memory_order_relaxed);
  if (!stopped.StopAgain(asking_tid) || !is_done) return std::nullopt;
  return Read(walk);
}

}  // namespace leakgate
