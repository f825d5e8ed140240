// Calls functions of another process on one of its threads, which is held, as the kernel would call
// a signal's handler, and puts everything back afterwards.
//
//   Begin    a frame like a signal's on the thread's own stack, below what it uses;
//            a larger stack, mapped by a call of its mmap
//   Call     the thread runs the function; it returns to the C library's restorer, and
//            is caught as it is about to give up its frame (rt_sigreturn)
//   ~        memory, errno and registers as they were, system call and all
//
// At each moment the thread's registers, or those that it will return to, lead to a frame that
// restores it. So if the runner is killed, the process goes on by itself. Then a system call that
// it waited in with a time limit begins anew, and a mapping is left behind.
//
// Signals are held back meanwhile, but for SIGSEGV and the like, and the one by which the C library
// has threads change their user.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string_view>

#include "runner/arch/signal_frame.h"
#include "runner/attach/linux/held_thread.h"
#include "runner/attach/linux/target_module.h"
#include "runner/base/expected.h"

namespace leakgate {

// Addresses in the process's C library.
struct RemoteLibrary {
  std::uint64_t mmap = 0;
  std::uint64_t munmap = 0;
  std::uint64_t restorer = 0;
  std::uint64_t errno_offset = 0;  // from the thread pointer
};

class RemoteCalls {
 public:
  // Fails if the thread has no room for a frame, or the process for a stack; the thread is as it
  // was then. `meanwhile` is called now and then if a call takes long: other threads, which are
  // stopped, might hold what it waits for. REQUIRES: the thread is at a safe point.
  [[nodiscard]] static Expected<RemoteCalls> Begin(HeldThread& thread, const TargetMemory& memory,
                                                   const RemoteLibrary& library,
                                                   std::function<void()> meanwhile);
  ~RemoteCalls();
  RemoteCalls(RemoteCalls&& other) noexcept;
  RemoteCalls& operator=(RemoteCalls&&) = delete;

  // Calls `function` with `text`, which is put where the process can read it, and `number`. Fails
  // if the function does not return in time, or crashes; its call is given up then.
  [[nodiscard]] Expected<void> Call(std::uint64_t function, std::string_view text = {},
                                    std::uint64_t number = 0);

 private:
  RemoteCalls(HeldThread& thread, const TargetMemory& memory, const RemoteLibrary& library)
      : thread_(&thread), memory_(&memory), library_(library) {}

  Expected<void> CallOn(const SignalFrame& frame, const FunctionCall& call);
  Expected<void> RunToReturn(const SignalFrame& frame);
  ThreadStop RunToStop(int signal);
  // The registers with which the thread is about to give up `frame`.
  RegisterSet Leaving(const SignalFrame& frame) const;
  Expected<void> MapStack();
  void Restore();

  HeldThread* thread_;  // nullptr: moved from
  const TargetMemory* memory_;
  RemoteLibrary library_;
  std::function<void()> meanwhile_;
  std::chrono::steady_clock::time_point called_at_;  // of the present call
  std::chrono::nanoseconds waited_{};                // likewise: but for a processor
  HeldState state_;
  SignalFrame own_frame_;          // on the thread's own stack
  SignalFrame frame_;              // on the mapped one
  std::uint64_t stack_ = 0;        // 0: not mapped
  std::uint64_t last_result_ = 0;  // of the system call made last
  int errno_ = 0;
};

}  // namespace leakgate
