// Stops all threads of a process, reads their registers, and lets them go on:
//
//   seize and interrupt each thread of /proc/PID/task, until no new one appears
//   wait until each has stopped, and read its registers
//   (the process is frozen: its memory is read)
//   detach, with the signal that a thread was about to take, if there is one
//
// Afterwards each thread goes on as before: in the system call that it waited in, or stopped if a
// signal has stopped the process. When the thread that froze them ends, the kernel releases all
// threads. So a short-lived thread should do it: then no thread stays stopped for good. The same
// thread must read the memory. The parent still collects the end of the program, but not before
// Thaw(): WaitLock is held until then.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <utility>
#include <vector>

#include "runner/arch/registers.h"
#include "runner/base/expected.h"

namespace leakgate {

struct FrozenThread {
  int tid = 0;
  std::string name;
  std::uint64_t stack_pointer = 0;
  std::uint64_t program_counter = 0;
  std::uint64_t thread_pointer = 0;
  std::vector<std::uint64_t> registers;  // all words: general and vector registers
};

class FrozenProcess {
 public:
  // Fails if a debugger traces the process, if the kernel forbids it, if the process has ended, or
  // if a thread does not stop within two seconds (twenty if it only waits for a processor). Then
  // all threads go on.
  [[nodiscard]] static Expected<FrozenProcess> Freeze(int pid);

  ~FrozenProcess() { Thaw(); }
  FrozenProcess(FrozenProcess&& other) noexcept
      : pid_(other.pid_),
        waiting_(std::move(other.waiting_)),
        held_(std::exchange(other.held_, {})),
        threads_(std::move(other.threads_)) {}
  FrozenProcess& operator=(FrozenProcess&&) = delete;

  const std::vector<FrozenThread>& threads() const { return threads_; }

  // Lets all threads go on. REQUIRES: it is called on the thread that froze them.
  void Thaw();

 private:
  // A thread that is seized.
  struct Held {
    int tid = 0;  // 0 if it has died
    bool is_stopped = false;
    int signal = 0;  // the signal that it was about to take; 0 if there is none
    std::optional<RegisterSet> begins_again{};  // its system call, with these registers
  };

  explicit FrozenProcess(int pid);

  Expected<void> SeizeAllThreads();
  // Returns whether there was a new thread.
  Expected<bool> SeizeNewThreads();
  Expected<void> WaitForStops();
  // Collects the end of a thread, but not that of the process, which is left to its parent. The
  // process could not end if its threads were not collected.
  void NoteStopOrDeath(Held& held);
  void Release(Held& held);

  int pid_;
  std::unique_lock<std::shared_mutex> waiting_;
  std::vector<Held> held_;
  std::vector<FrozenThread> threads_;
};

}  // namespace leakgate
