// A lock for the agent's cold paths, which waits without the C library. It is held for
// microseconds, and never across anything that could allocate. While a thread holds it, the thread
// records (threads/recording.h), so a signal handler cannot meet the lock again on the same thread.
#pragma once

#include <atomic>

#include "common/system.h"

#include LEAKGATE_AGENT(syscall)

namespace leakgate::agent {

class SpinLock {
 public:
  void Lock() {
    // Acquire pairs with the release in Unlock.
    while (locked_.exchange(true, std::memory_order_acquire)) {
      if (AreOtherThreadsGone()) return;
      YieldThread();
    }
  }
  // Returns false at once if it is held.
  [[nodiscard]] bool TryLock() { return !locked_.exchange(true, std::memory_order_acquire); }
  void Unlock() { locked_.store(false, std::memory_order_release); }

  // For a fork child, whose lock another thread of its parent may have held. REQUIRES: no thread of
  // this process holds the lock.
  void Reset() { Unlock(); }

 private:
  std::atomic<bool> locked_{false};
};

class SpinGuard {
 public:
  explicit SpinGuard(SpinLock& lock) : lock_(lock) { lock_.Lock(); }
  ~SpinGuard() { lock_.Unlock(); }
  SpinGuard(const SpinGuard&) = delete;
  SpinGuard& operator=(const SpinGuard&) = delete;

 private:
  SpinLock& lock_;
};

}  // namespace leakgate::agent
