// Calls functions of another process on one of its threads, which is held. The calls are made as
// the kernel calls a signal handler, and everything is restored afterwards.
//
//   Begin    puts a frame like a signal's on the thread's own stack, below the part that it uses,
//            and maps a larger stack by a call of the process's mmap
//   Call     has the thread run the function, which returns to the C library's restorer; stops the
//            thread when it is about to give up its frame (rt_sigreturn)
//   ~        restores memory, errno, registers and the system call
//
// At each moment the thread's registers, or those to which it will return, lead to a frame that
// restores it. So if the runner is killed, the process continues by itself. Then a system call in
// which it waited with a time limit waits for the full time again, and a mapping is left behind.
//
// Signals are blocked meanwhile, except SIGSEGV and the like, and the signal by which the C library
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
  // Fails if the thread has no room for a frame, or the process for a stack; then the thread is as
  // it was. If a call takes long, `meanwhile` is called from time to time, because other threads
  // that are stopped may hold a lock that the call waits for. REQUIRES: the thread is at a safe
  // point.
  [[nodiscard]] static Expected<RemoteCalls> Begin(HeldThread& thread, const TargetMemory& memory,
                                                   const RemoteLibrary& library,
                                                   std::function<void()> meanwhile);
  ~RemoteCalls();
  RemoteCalls(RemoteCalls&& other) noexcept;
  RemoteCalls& operator=(RemoteCalls&&) = delete;

  // Calls `function` with the address of a copy of `text` in the process, and with `number`. Fails
  // if the function does not return in time, or crashes; then its call is given up.
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
  std::chrono::steady_clock::time_point called_at_;  // when the present call began
  std::chrono::nanoseconds waited_{};                // how long it has not waited for a processor
  HeldState state_;
  SignalFrame own_frame_;          // on the thread's own stack
  SignalFrame frame_;              // on the mapped one
  std::uint64_t stack_ = 0;        // 0: not mapped
  std::uint64_t last_result_ = 0;  // the result of the last system call
  int errno_ = 0;
};

}  // namespace leakgate
