// A process with all its threads stopped, and what their registers hold.
//
//   seize + interrupt each thread of /proc/PID/task, until no new one turns up
//   wait for each stop; read its registers
//   (frozen: its memory is read)
//   detach, with the signal that a thread was about to take, if any
//
// Afterwards each thread goes on as it was: in the system call that it waited in,
// or stopped, if a signal has stopped the process. The kernel lets go of all
// threads when the thread that froze them ends, so a short-lived one should:
// then nothing can leave a thread stopped for good. Reading must be on that same
// thread, too. The program's end stays its parent's to collect; WaitLock is held
// meanwhile.
#pragma once

#include <cstdint>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <utility>
#include <vector>

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
  // Fails if a debugger traces the process, if the kernel forbids it, if the
  // process has gone or a thread does not stop within two seconds, twenty if it only
  // waits for a processor; all go on then.
  [[nodiscard]] static Expected<FrozenProcess> Freeze(int pid);

  ~FrozenProcess() { Thaw(); }
  FrozenProcess(FrozenProcess&& other) noexcept
      : pid_(other.pid_),
        waiting_(std::move(other.waiting_)),
        held_(std::exchange(other.held_, {})),
        threads_(std::move(other.threads_)) {}
  FrozenProcess& operator=(FrozenProcess&&) = delete;

  const std::vector<FrozenThread>& threads() const { return threads_; }

  // Lets all go on. On the thread that froze them.
  void Thaw();

 private:
  // A thread that is seized.
  struct Held {
    int tid = 0;
    bool is_stopped = false;
    int signal = 0;  // that it was about to take
  };

  explicit FrozenProcess(int pid);

  Expected<void> SeizeAll();
  Expected<bool> SeizeNew();
  Expected<void> WaitForStops();
  void LookAt(Held& held);
  void Release(Held& held);

  int pid_;
  std::unique_lock<std::shared_mutex> waiting_;
  std::vector<Held> held_;
  std::vector<FrozenThread> threads_;
};

}  // namespace leakgate
