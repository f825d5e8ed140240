// One thread of another process that ptrace has stopped. The other threads go on.
//
// The thread is seized and interrupted, which the process does not notice. When it is released, it
// goes on as before: in the system call that it waited in, or stopped if a signal has stopped the
// process. The thread of the runner that took it must make all calls. When that ends, the kernel
// releases the thread.
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
  kEvent,     // it was interrupted, or a signal has stopped its process
  kSignal,    // it is about to take a signal
  kGone,      // it has ended
  kTimedOut,  // it has not stopped in time
};

class HeldThread {
 public:
  // Asks the thread to stop. Returns nothing if it has ended. Fails if it may not be stopped.
  [[nodiscard]] static Expected<std::optional<HeldThread>> Take(int pid, int tid);

  // Waits until it has stopped. Returns false if it does not stop in time, or has ended.
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
  // Whether a signal had already stopped its process. Then the thread is done with its system call.
  bool was_stopped() const { return was_stopped_; }

  [[nodiscard]] std::optional<HeldState> State() const;
  [[nodiscard]] std::optional<RegisterSet> Registers() const;
  [[nodiscard]] bool SetRegisters(const RegisterSet& registers) const;
  [[nodiscard]] bool SetVectors(const std::vector<std::uint8_t>& vectors) const;
  [[nodiscard]] bool SetBlockedSignals(std::uint64_t signals) const;

  // Lets it run to its next system call, unless something stops it before. Delivers `signal` to it
  // first. Returns false if it has ended.
  [[nodiscard]] bool RunToCall(int signal) const;
  [[nodiscard]] ThreadStop WaitForStop(std::chrono::steady_clock::time_point deadline);
  // Stops it where it is. If it is stopped at a system call, it completes that first.
  [[nodiscard]] ThreadStop Interrupt();
  // The signal of the last stop.
  int signal() const { return signal_; }

  // Lets it go on. Does nothing if it has ended, or was released.
  void Release();

 private:
  HeldThread(int pid, int tid) : pid_(pid), tid_(tid) {}

  ThreadStop LookAt();

  int pid_;
  int tid_;
  int signal_ = 0;
  bool was_stopped_ = false;
};

}  // namespace leakgate
