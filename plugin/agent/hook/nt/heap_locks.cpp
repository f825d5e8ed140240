#include "plugin/agent/hook/nt/heap_locks.h"

#include <windows.h>

#include <atomic>

#include "plugin/agent/nt/last_error.h"

namespace leakgate::agent {
namespace {

// One for each lock that has not been undone, and for each heap that has no lock. Relaxed: whoever
// asks has had all other threads stopped, or is about to destroy the heap.
struct LockedHeap {
  std::atomic<Heap> heap;
  std::atomic<DWORD> tid;  // of the thread that has it; 0: there is no lock
};
constinit LockedHeap g_locked[64] = {};
// There have been more locks, or a thread was ended that may have held any.
constinit std::atomic<bool> g_may_be_any{false};

bool Replace(Heap from, Heap to, DWORD tid = 0) {
  for (LockedHeap& locked : g_locked) {
    Heap expected = from;
    if (!locked.heap.compare_exchange_strong(expected, to, std::memory_order_relaxed)) continue;
    if (to != nullptr) locked.tid.store(tid, std::memory_order_relaxed);
    return true;
  }
  return false;
}

void Note(Heap heap, DWORD tid) {
  if (!Replace(nullptr, heap, tid)) g_may_be_any.store(true, std::memory_order_relaxed);
}

}  // namespace

Heap __stdcall HookedCreate(unsigned long flags, void* at, std::size_t reserved_bytes,
                            std::size_t committed_bytes, void* lock, void* parameters) {
  const Heap heap = g_ntdll.create(flags, at, reserved_bytes, committed_bytes, lock, parameters);
  constexpr unsigned long kHasNoLock = 1;  // HEAP_NO_SERIALIZE
  if (heap != nullptr && (flags & kHasNoLock) != 0) Note(heap, 0);
  return heap;
}

// Noted before it is so, and until it is no longer so.
unsigned char __stdcall HookedLock(Heap heap) {
  Note(heap, ::GetCurrentThreadId());
  const unsigned char is_locked = g_ntdll.lock(heap);
  if (is_locked == 0) Replace(heap, nullptr);
  return is_locked;
}

unsigned char __stdcall HookedUnlock(Heap heap) {
  const unsigned char is_unlocked = g_ntdll.unlock(heap);
  if (is_unlocked != 0) Replace(heap, nullptr);
  return is_unlocked;
}

// A thread that ends itself is in none of the heap's functions.
long __stdcall HookedEndThread(void* thread, long status) {
  const LastErrorKeeper keeper;
  const bool is_own = thread == nullptr || ::GetThreadId(thread) == ::GetCurrentThreadId();
  if (!is_own) g_may_be_any.store(true, std::memory_order_relaxed);
  return g_ntdll.end_thread(thread, status);
}

void ForgetLocksOf(Heap heap) {
  while (Replace(heap, nullptr)) {
  }
}

bool IsLockedByAnother(Heap heap) {
  for (const LockedHeap& locked : g_locked) {
    const DWORD tid = locked.tid.load(std::memory_order_relaxed);
    const bool is_it = locked.heap.load(std::memory_order_relaxed) == heap;
    if (is_it && tid != 0 && tid != ::GetCurrentThreadId()) return true;
  }
  return false;
}

bool MayBeWalked(Heap heap) {
  if (g_may_be_any.load(std::memory_order_relaxed)) return false;
  for (const LockedHeap& locked : g_locked) {
    if (locked.heap.load(std::memory_order_relaxed) == heap) return false;
  }
  return true;
}

}  // namespace leakgate::agent
