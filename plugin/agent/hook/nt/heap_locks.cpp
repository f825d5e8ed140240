#include "plugin/agent/hook/nt/heap_locks.h"

#include <atomic>

namespace leakgate::agent {
namespace {

// One entry for each lock that has not been undone, and for each heap that has no lock. Relaxed:
// whoever asks has had all other threads stopped.
constinit std::atomic<Heap> g_locked[64] = {};
constinit std::atomic<bool> g_has_had_more{false};

bool Replace(Heap from, Heap to) {
  for (std::atomic<Heap>& entry : g_locked) {
    Heap expected = from;
    if (entry.compare_exchange_strong(expected, to, std::memory_order_relaxed)) return true;
  }
  return false;
}

void Note(Heap heap) {
  if (!Replace(nullptr, heap)) g_has_had_more.store(true, std::memory_order_relaxed);
}

}  // namespace

Heap __stdcall HookedCreate(unsigned long flags, void* at, std::size_t reserved_bytes,
                            std::size_t committed_bytes, void* lock, void* parameters) {
  const Heap heap = g_ntdll.create(flags, at, reserved_bytes, committed_bytes, lock, parameters);
  constexpr unsigned long kHasNoLock = 1;  // HEAP_NO_SERIALIZE
  if (heap != nullptr && (flags & kHasNoLock) != 0) Note(heap);
  return heap;
}

// Noted before it is so, and until it is no longer so.
unsigned char __stdcall HookedLock(Heap heap) {
  Note(heap);
  const unsigned char is_locked = g_ntdll.lock(heap);
  if (is_locked == 0) Replace(heap, nullptr);
  return is_locked;
}

unsigned char __stdcall HookedUnlock(Heap heap) {
  const unsigned char is_unlocked = g_ntdll.unlock(heap);
  if (is_unlocked != 0) Replace(heap, nullptr);
  return is_unlocked;
}

void ForgetLocksOf(Heap heap) {
  while (Replace(heap, nullptr)) {
  }
}

bool MayBeWalked(Heap heap) {
  if (g_has_had_more.load(std::memory_order_relaxed)) return false;
  for (const std::atomic<Heap>& entry : g_locked) {
    if (entry.load(std::memory_order_relaxed) == heap) return false;
  }
  return true;
}

}  // namespace leakgate::agent
