#include "plugin/agent/hook/nt/heap_walk.h"

#include <windows.h>

#include "common/nt_heap_walk.h"
#include "plugin/agent/hook/nt/heap_locks.h"
#include "plugin/agent/nt/last_error.h"
#include "plugin/agent/nt/syscall.h"
#include "plugin/agent/record/live_map.h"

namespace leakgate::agent {
namespace {

class HeapWalker {
 public:
  HeapWalker(NtHeapWalk& walk, std::uint32_t wanted) : walk_(walk), wanted_(wanted) {}

  void Walk() {
    // A thread that was ended may have held a heap's lock. Wine's list of heaps has that of the
    // process's own heap.
    if (AreOtherThreadsGone() || !MayBeWalked(::GetProcessHeap())) return;
    constexpr DWORD kMostHeaps = 256;
    HANDLE heaps[kMostHeaps];
    const DWORD count = ::GetProcessHeaps(kMostHeaps, heaps);
    for (DWORD i = 0; i < count && i < kMostHeaps; ++i) {
      if (!MayBeWalked(heaps[i])) continue;
      const std::uint32_t before = count_;
      allocation_begin_ = allocation_end_ = 0;
      // What is known of a part of a heap only is not used.
      if (!WalkHeap(heaps[i])) count_ = before;
    }
  }

  std::uint32_t count() const { return count_; }

 private:
  bool WalkHeap(HANDLE heap) {
    PROCESS_HEAP_ENTRY entry{};
    while (::HeapWalk(heap, &entry) != 0) {
      walk_.steps.fetch_add(1, std::memory_order_relaxed);
      if (walk_.wanted.load(std::memory_order_relaxed) != wanted_) return false;
      if ((entry.wFlags & PROCESS_HEAP_UNCOMMITTED_RANGE) != 0) continue;
      const auto begin = reinterpret_cast<std::uint64_t>(entry.lpData);
      if (!HasAllocationOf(begin) || !AddIfUnseen(entry, begin)) return false;
    }
    return ::GetLastError() == ERROR_NO_MORE_ITEMS;
  }

  bool Add(const NtHeapRange& range) {
    if (count_ == NtHeapWalk::kMostRanges) return false;
    walk_.ranges[count_++] = range;
    return true;
  }

  bool HasAllocationOf(std::uint64_t address) {
    if (address - allocation_begin_ < allocation_end_ - allocation_begin_) return true;
    MEMORY_BASIC_INFORMATION facts;
    if (::VirtualQuery(reinterpret_cast<void*>(address), &facts, sizeof(facts)) == 0) return false;
    allocation_begin_ = reinterpret_cast<std::uint64_t>(facts.BaseAddress);
    allocation_end_ = allocation_begin_ + facts.RegionSize;
    const auto begin = reinterpret_cast<std::uint64_t>(facts.AllocationBase);
    const bool is_known = begin == last_allocation_;
    last_allocation_ = begin;
    return is_known || Add({begin, 0});
  }

  bool AddIfUnseen(const PROCESS_HEAP_ENTRY& entry, std::uint64_t begin) {
    if ((entry.wFlags & PROCESS_HEAP_ENTRY_BUSY) == 0) return true;
    const LiveMap::Slot slot = LiveMap::Find(begin);
    if (slot != nullptr && LiveMap::IsLiveAt(slot)) return true;
    return entry.cbData == 0 || Add({begin, begin + entry.cbData});
  }

  NtHeapWalk& walk_;
  const std::uint32_t wanted_;
  std::uint32_t count_ = 0;
  std::uint64_t allocation_begin_ = 0;  // of the pages that were asked for last
  std::uint64_t allocation_end_ = 0;
  std::uint64_t last_allocation_ = 0;
};

__attribute__((noinline)) void Walk(NtHeapWalk& walk, std::uint32_t wanted) {
  HeapWalker walker(walk, wanted);
  walker.Walk();
  // What was given up belongs to nobody: the answer is written there.
  if (walk.wanted.load(std::memory_order_relaxed) != wanted) return;
  walk.range_count = walker.count();
  walk.done.store(wanted, std::memory_order_release);
}

// Overwrites what ended functions have left on the stack.
__attribute__((noinline)) void ScrubStack() {
  volatile char bytes[24 * 1024];
  for (volatile char& byte : bytes) byte = 0;
}

}  // namespace

void WalkHeapsIfWanted(Mailbox& mailbox) {
  NtHeapWalk& walk = HeapWalkIn(mailbox);
  const std::uint32_t wanted = NtHeapWalkOf(mailbox.request.load(std::memory_order_relaxed));
  const bool is_wanted = walk.wanted.load(std::memory_order_acquire) == wanted &&
                         walk.done.load(std::memory_order_relaxed) != wanted;
  if (!is_wanted) return;
  const LastErrorKeeper keeper;
  Walk(walk, wanted);
  ScrubStack();
}

}  // namespace leakgate::agent
