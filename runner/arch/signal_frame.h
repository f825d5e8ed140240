// What the kernel lays on a thread's stack before it calls a signal's handler, and takes everything
// back from when the handler returns (rt_sigreturn). Made by us, for a function that we have a
// stopped thread call.
//
// So the thread itself can undo the call: if we are killed meanwhile, the function returns as a
// handler would, and the kernel restores what the frame says. The function returns to the C
// library's restorer, the few instructions that call rt_sigreturn.
//
// Pure. The attaching (attach/linux/remote_calls.h) writes the frame and sets the registers.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "runner/arch/registers.h"

namespace leakgate {

struct SignalFrame {
  std::uint64_t address = 0;
  std::vector<std::uint8_t> bytes;
  // The stack pointer that rt_sigreturn takes the frame from.
  std::uint64_t returned_at = 0;
};

// Makes a frame below `top` from which the kernel restores `state`. It lies as the processor wants
// the stack at a function's entry. A system call that had been interrupted is made again.
[[nodiscard]] SignalFrame MakeSignalFrame(const HeldState& state, std::uint64_t top,
                                          std::uint64_t restorer);

// The highest address below all that the thread uses of its stack.
[[nodiscard]] std::uint64_t FreeStackBelow(const RegisterSet& registers);

struct FunctionCall {
  std::uint64_t function = 0;
  std::array<std::uint64_t, 6> arguments{};
};

// The registers with which a thread that had `registers` enters a function that returns through
// `frame`.
[[nodiscard]] RegisterSet EnteringCall(const RegisterSet& registers, const SignalFrame& frame,
                                       std::uint64_t restorer, const FunctionCall& call);

// The registers with which it is about to give up `frame`: at the restorer's first instruction, and
// in no system call that the kernel would restart.
[[nodiscard]] RegisterSet LeavingCall(const RegisterSet& registers, const SignalFrame& frame,
                                      std::uint64_t restorer);

// Whether a thread that has stopped at a system call is in the restorer's, about to give up
// `frame`.
[[nodiscard]] bool IsLeavingCall(const RegisterSet& registers, const SignalFrame& frame,
                                 std::uint64_t restorer);

}  // namespace leakgate
