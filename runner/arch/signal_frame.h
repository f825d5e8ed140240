// Makes the frame that the kernel puts on a thread's stack before it calls a signal handler. When
// the handler returns, the kernel restores the thread from it (rt_sigreturn). We make such a frame
// for a function that we have a stopped thread call.
//
// So the thread can undo the call by itself: if the runner is killed meanwhile, the function
// returns as a handler would, and the kernel restores what the frame says. The function returns to
// the C library's restorer, the few instructions that call rt_sigreturn.
//
// Pure. attach/linux/remote_calls.h writes the frame and sets the registers.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "runner/arch/registers.h"

namespace leakgate {

struct SignalFrame {
  std::uint64_t address = 0;
  std::vector<std::uint8_t> bytes;
  // The stack pointer with which rt_sigreturn finds the frame.
  std::uint64_t returned_at = 0;
};

// Makes a frame below `top` from which the kernel restores `state`. It is aligned as the stack must
// be at a function's entry. A system call that was interrupted is made again.
[[nodiscard]] SignalFrame MakeSignalFrame(const HeldState& state, std::uint64_t top,
                                          std::uint64_t restorer);

// Returns the highest address below the part of the stack that the thread uses.
[[nodiscard]] std::uint64_t FreeStackBelow(const RegisterSet& registers);

struct FunctionCall {
  std::uint64_t function = 0;
  std::array<std::uint64_t, 6> arguments{};
};

// Returns the registers with which a thread that had `registers` enters a function that returns
// through `frame`.
[[nodiscard]] RegisterSet EnteringCall(const RegisterSet& registers, const SignalFrame& frame,
                                       std::uint64_t restorer, const FunctionCall& call);

// Returns the registers with which the thread is about to give up `frame`: it is at the restorer's
// first instruction, and in no system call that the kernel would restart.
[[nodiscard]] RegisterSet LeavingCall(const RegisterSet& registers, const SignalFrame& frame,
                                      std::uint64_t restorer);

// Returns whether a thread that has stopped at a system call has stopped at the restorer's, and is
// about to give up `frame`.
[[nodiscard]] bool IsLeavingCall(const RegisterSet& registers, const SignalFrame& frame,
                                 std::uint64_t restorer);

}  // namespace leakgate
