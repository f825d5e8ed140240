// Stops a process, reads the registers of its threads, and lets it go on:
//
//   look at each thread of /proc/PID/task, until no new one appears:
//     it sleeps in a system call     leave it there: note its stack pointer, and how often it has
//     run it runs, or a stop would not   seize and interrupt it, wait until it has stopped, and
//     read show in the call                 its registers
//   (the process is frozen: its memory is read)
//   has no thread run that was left?  if one has, what was read may be of two moments
//   detach, with the signal that a thread was about to take, if there is one
//
// A stop ends some system calls early: a recv with MSG_WAITALL returns what it has, an accept with
// a time limit fails with EINTR. So a thread that sleeps in one of these is never stopped. Of its
// registers, the kernel tells the stack pointer and the call's arguments only.
//
// Afterwards each thread goes on as before: in the system call that it waited in, or stopped if a
// signal has stopped the process. When the thread that froze them ends, the kernel releases all
// threads. So a short-lived thread should do it: then no thread stays stopped for good. The same
// thread must read the memory. The parent still collects the end of the program, but not before
// Thaw(): WaitLock is held until then.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "runner/arch/registers.h"
#include "runner/base/expected.h"
#include "runner/reach/process_stop.h"

namespace leakgate {

struct FrozenThread {
  int tid = 0;
  std::string name;
  std::uint64_t stack_pointer = 0;
  std::uint64_t program_counter = 0;
  std::uint64_t thread_pointer = 0;
  std::vector<std::uint64_t> registers;  // all words: general and vector registers
  // It sleeps in a system call and was not stopped; `registers` are the call's arguments.
  bool hides_registers = false;
};

// What becomes of threads that sleep in a system call.
enum class SleepingThreads {
  kStoppedUnseen,  // those are stopped that do not notice it
  kLeft,           // none is stopped but those that only sleep for a time
};

struct FreezeRequest {
  int pid = 0;
  SleepingThreads sleeping = SleepingThreads::kStoppedUnseen;
  int asking_tid = 0;  // waits in the agent, and may always be stopped; 0 if none does
};

class FrozenProcess {
 public:
  // Fails if a debugger traces the process, if the kernel forbids it, if the process has ended, or
  // if a thread does not stop within two seconds (twenty if it only waits for a processor). Then
  // all threads go on.
  [[nodiscard]] static Expected<FrozenProcess> Freeze(const FreezeRequest& request);
  [[nodiscard]] static Expected<FrozenProcess> Freeze(int pid) {
    return Freeze(FreezeRequest{.pid = pid});
  }

  ~FrozenProcess() { Thaw(); }
  FrozenProcess(FrozenProcess&& other) noexcept
      : request_(other.request_),
        waiting_(std::move(other.waiting_)),
        held_(std::exchange(other.held_, {})),
        sleepers_(std::move(other.sleepers_)),
        threads_(std::move(other.threads_)) {}
  FrozenProcess& operator=(FrozenProcess&&) = delete;

  const std::vector<FrozenThread>& threads() const { return threads_; }

  // Returns whether no thread has run since the process was frozen, those included that were left
  // asleep. It is asked last, when all memory has been read.
  [[nodiscard]] bool HasStoodStill() const;

  // Lets all threads go on. REQUIRES: it is called on the thread that froze them.
  void Thaw();

 private:
  // A thread that is seized.
  struct Held {
    int tid = 0;  // 0 if it has died
    bool is_stopped = false;
    int signal = 0;  // the signal that it was about to take; 0 if there is none
    std::optional<RegisterSet> begins_again{};  // its system call, with these registers
    // The call in which it was seen waiting, and when that call's time limit is over, if it is
    // begun again with what is left of it.
    std::int64_t call = -1;
    std::optional<std::chrono::steady_clock::time_point> due{};
  };
  // A thread that is left asleep.
  struct Sleeper {
    int tid = 0;
    std::uint64_t runs = 0;  // how often it has run so far
  };

  explicit FrozenProcess(const FreezeRequest& request);

  Expected<void> SeizeAllThreads();
  // Returns whether there was a new thread.
  Expected<bool> SeizeNewThreads();
  // Returns the threads that are held or left asleep.
  [[nodiscard]] std::unordered_set<int> KnownThreads() const;
  // Notes the thread as one that is left asleep. Returns false if it is to be stopped.
  bool LeaveAsleep(Held& thread);
  // Forgets sleepers that have run since. Returns whether there were any.
  bool ForgetWoken();
  void FindThreadPointers();
  Expected<void> WaitForStops();
  // Collects the end of a thread, but not that of the process, which is left to its parent. The
  // process could not end if its threads were not collected.
  void NoteStopOrDeath(Held& held);
  void Release(Held& held);

  FreezeRequest request_;
  std::unique_lock<std::shared_mutex> waiting_;
  std::vector<Held> held_;
  std::vector<Sleeper> sleepers_;
  std::vector<FrozenThread> threads_;
};

}  // namespace leakgate
