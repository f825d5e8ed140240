// One thread of another process, stopped by ptrace. The other threads go on.
//
// The thread is seized and interrupted, so that nothing of it shows to the process. When it is
// released, it goes on as it was: in the system call that it waited in, or stopped if a signal has
// stopped the process. All calls must be made on the thread of ours that took it. If that ends, the
// kernel lets go.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "runner/arch/registers.h"
#include "runner/base/expected.h"

namespace leakgate {

// Why a held thread has stopped again.
enum class ThreadStop {
  kCall,      // it is about to make a system call, or has made one
  kEvent,     // interrupted, or its process is stopped by a signal
  kSignal,    // it is about to take a signal
  kGone,      // it has ended
  kTimedOut,  // it has not stopped in time
};

class HeldThread {
 public:
  // Asks the thread to stop. Returns nothing if it has gone. Fails if it may not be stopped.
  [[nodiscard]] static Expected<std::optional<HeldThread>> Take(int pid, int tid);

  // Waits until it has stopped. Returns false if it has not in time, or has gone.
  [[nodiscard]] bool AwaitStop(std::chrono::milliseconds patience);

  ~HeldThread() { Release(); }
  HeldThread(HeldThread&& other) noexcept
      : pid_(other.pid_),
        tid_(std::exchange(other.tid_, 0)),
        signal_(other.signal_),
        was_stopped_(other.was_stopped_) {}
  HeldThread& operator=(HeldThread&& other) noexcept {
    if (this != &other) {
      Release();
      pid_ = other.pid_;
      tid_ = std::exchange(other.tid_, 0);
      signal_ = other.signal_;
      was_stopped_ = other.was_stopped_;
    }
    return *this;
  }

  int tid() const { return tid_; }
  // Whether a signal had stopped its process already. Then what it did in the kernel is done.
  bool was_stopped() const { return was_stopped_; }

  [[nodiscard]] std::optional<HeldState> State() const;
  [[nodiscard]] std::optional<RegisterSet> Registers() const;
  [[nodiscard]] bool SetRegisters(const RegisterSet& registers) const;
  [[nodiscard]] bool SetVectors(const std::vector<std::uint8_t>& vectors) const;
  [[nodiscard]] bool SetBlockedSignals(std::uint64_t signals) const;

  // Lets it run to its next system call, or to what stops it before that. `signal` is delivered to
  // it first. Returns false if it has gone.
  [[nodiscard]] bool RunToCall(int signal) const;
  [[nodiscard]] ThreadStop WaitForStop(std::chrono::steady_clock::time_point deadline);
  // Stops it wherever it is. If it is stopped at a system call, it completes that first.
  [[nodiscard]] ThreadStop Interrupt();
  // The signal of the last stop.
  int signal() const { return signal_; }

  // Lets it go. Does nothing if it has gone.
  void Release();

 private:
  HeldThread(int pid, int tid) : pid_(pid), tid_(tid) {}

  ThreadStop LookAt();

  int pid_;
  int tid_;
  int signal_ = 0;
  bool was_stopped_ = false;
};

// Returns why a thread of `pid` cannot be stopped, by the value of errno, and what to do.
[[nodiscard]] Error StopError(int pid, int error);

}  // namespace leakgate
