// A lock for the agent's cold paths. Waits without the C library. Held for
// microseconds, and never across anything that could allocate, so it cannot
// be met again on the same thread: the recording guard sees to that.
#pragma once

#include <atomic>

#include "plugin/agent/linux/syscall.h"

namespace leakgate::agent {

class SpinLock {
 public:
  void Lock() {
    // Acquire pairs with the release in Unlock.
    while (locked_.exchange(true, std::memory_order_acquire)) YieldProcessor();
  }
  void Unlock() { locked_.store(false, std::memory_order_release); }

  // A fork child may have inherited it as another thread held it. REQUIRES: nobody does.
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
