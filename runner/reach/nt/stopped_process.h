// Stops all threads of a process, reads their registers, and lets them go on.
//
// A thread that waits in the kernel goes on waiting, and notices nothing. If the runner ends
// meanwhile, the job that it has put the process into ends the process, so none stays stopped for
// good.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "runner/base/expected.h"
#include "runner/reach/address_range.h"

namespace leakgate {

struct StoppedThread {
  int tid = 0;
  std::string name;  // empty if it has none
  std::uint64_t stack_pointer = 0;
  std::uint64_t stack_base = 0;          // where its stack begins, above all frames; 0: unknown
  std::vector<std::uint64_t> registers;  // all words: general and vector registers
  bool awaits_input_or_output = false;   // the kernel may have pointers of it
};

// Who has stopped a process. Whoever else of this runner would stop it waits: one of the two would
// let threads go that the other takes for stopped.
class StopTurn {
 public:
  explicit StopTurn(int pid);
  ~StopTurn();
  StopTurn(StopTurn&& other) noexcept : pid_(std::exchange(other.pid_, 0)) {}
  StopTurn& operator=(StopTurn&&) = delete;

 private:
  int pid_;
};

class StoppedProcess {
 public:
  // Fails, with the reason and a remedy, if the process or a thread of it cannot be stopped. Then
  // all threads go on.
  [[nodiscard]] static Expected<StoppedProcess> Stop(int pid);

  ~StoppedProcess() { Resume(); }
  StoppedProcess(StoppedProcess&& other) noexcept;
  StoppedProcess& operator=(StoppedProcess&&) = delete;

  [[nodiscard]] const std::vector<StoppedThread>& threads() const { return threads_; }
  // The process, with the right to read it. A HANDLE of Windows.
  [[nodiscard]] void* handle() const { return process_; }

  // Lets one thread go for a while, which neither allocates nor leaves where it waits. Both return
  // false if the thread was not stopped, or cannot be.
  [[nodiscard]] bool LetGo(int tid) const;
  [[nodiscard]] bool StopAgain(int tid) const;

  // Returns whether there is no thread that was not stopped. It is asked last.
  [[nodiscard]] bool HasStoodStill() const;

  void Resume();

 private:
  struct Held {
    int tid = 0;
    void* handle = nullptr;
  };

  explicit StoppedProcess(int pid) : turn_(pid), pid_(pid) {}
  // Returns whether there was a new thread.
  Expected<bool> StopNewThreads();
  void ReadThread(const Held& held);
  [[nodiscard]] std::uint64_t StackBaseOf(void* thread) const;
  [[nodiscard]] void* HandleOfThread(int tid) const;

  StopTurn turn_;
  int pid_;
  void* process_ = nullptr;
  std::vector<Held> held_;
  std::vector<StoppedThread> threads_;
};

// Returns the numbers of the process's threads.
[[nodiscard]] std::vector<int> ListThreadsOf(int pid);

}  // namespace leakgate
