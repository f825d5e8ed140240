// What the kernel lays on a thread's stack before it calls a signal's handler, and takes
// everything back from when the handler returns (rt_sigreturn): made by us, for a
// function that we have a stopped thread call.
//
// So the thread itself can undo the call: if we are killed meanwhile, the function
// returns as a handler would, and the kernel restores what the frame says.
//
//   address       return address: the C library's restorer, which calls rt_sigreturn
//   address + 8   ucontext: general registers, signal mask, where the vectors are
//   ...           vectors, as XSAVE writes them, aligned to 64
#pragma once

#include <cstdint>
#include <vector>

#include "runner/attach/linux/held_thread.h"

namespace leakgate {

struct SignalFrame {
  std::uint64_t address = 0;
  std::vector<std::uint8_t> bytes;

  // The stack pointer that rt_sigreturn takes the frame from.
  std::uint64_t ReturnedAt() const { return address + sizeof(std::uint64_t); }
};

// Below `top`; for a function's entry, so the address is 8 less than a multiple of 16.
// Restores `state`; a system call that had been interrupted is made again. Pure.
[[nodiscard]] SignalFrame MakeSignalFrame(const HeldState& state, std::uint64_t top,
                                          std::uint64_t restorer);

}  // namespace leakgate
