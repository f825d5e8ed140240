#include "plugin/agent/hook/nt/heap_locks.h"

#include <atomic>
#include <iterator>

namespace leakgate::agent {
namespace {

// One entry for each call that has not been undone. Relaxed: whoever asks has had all other threads
// stopped.
constinit std::atomic<Heap> g_locked[64] = {};
constinit std::atomic<bool> g_has_had_more{false};

bool Replace(Heap from, Heap to) {
  for (std::atomic<Heap>& entry : g_locked) {
    Heap expected = from;
    if (entry.compare_exchange_strong(expected, to, std::memory_order_relaxed)) return true;
  }
  return false;
}

}  // namespace

// Noted before it is so, and until it is no longer so.
unsigned char __stdcall HookedLock(Heap heap) {
  if (!Replace(nullptr, heap)) g_has_had_more.store(true, std::memory_order_relaxed);
  const unsigned char is_locked = g_ntdll.lock(heap);
  if (is_locked == 0) Replace(heap, nullptr);
  return is_locked;
}

unsigned char __stdcall HookedUnlock(Heap heap) {
  const unsigned char is_unlocked = g_ntdll.unlock(heap);
  if (is_unlocked != 0) Replace(heap, nullptr);
  return is_unlocked;
}

bool MayBeLockedByProgram(Heap heap) {
  if (g_has_had_more.load(std::memory_order_relaxed)) return true;
  for (const std::atomic<Heap>& entry : g_locked) {
    if (entry.load(std::memory_order_relaxed) == heap) return true;
  }
  return false;
}

}  // namespace leakgate::agent
