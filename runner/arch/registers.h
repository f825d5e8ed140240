// The registers of a thread of another process, which is stopped and traced by this thread.
//
// RegisterSet is the processor's own struct: what it holds is known in the processor's folder
// alone. The rest of the runner asks by the functions below.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#if defined(__x86_64__)
#include "runner/arch/x86_64/register_set.h"
#else
#error "leakgate does not know this processor: runner/arch/ has no folder for it"
#endif

struct Dwfl_Thread;  // elfutils

namespace leakgate {

// All that must be put back so that a thread goes on as if nothing had been.
struct HeldState {
  RegisterSet registers{};
  std::vector<std::uint8_t> vectors;  // as the kernel tells and takes them
  std::uint64_t blocked_signals = 0;
};

// Each returns nothing, or false, if the thread has gone.
[[nodiscard]] std::optional<RegisterSet> GetRegisterSet(int tid);
[[nodiscard]] bool SetRegisterSet(int tid, const RegisterSet& registers);
[[nodiscard]] std::optional<std::vector<std::uint8_t>> GetVectors(int tid);
[[nodiscard]] bool SetVectors(int tid, const std::vector<std::uint8_t>& vectors);

[[nodiscard]] std::uint64_t StackPointerOf(const RegisterSet& registers);
[[nodiscard]] std::uint64_t ProgramCounterOf(const RegisterSet& registers);
[[nodiscard]] std::uint64_t ThreadPointerOf(const RegisterSet& registers);
void SetStackPointer(RegisterSet& registers, std::uint64_t address);

// The values of the registers that may hold pointers, but for the stack pointer.
[[nodiscard]] std::vector<std::uint64_t> GeneralValuesOf(const RegisterSet& registers);

// The number of the system call that the thread is in; negative if it is in none.
[[nodiscard]] std::int64_t SystemCallOf(const RegisterSet& registers);
// What a function or a system call has returned.
[[nodiscard]] std::uint64_t ResultOf(const RegisterSet& registers);

// Has the kernel make the system call again that the thread is in, unless a signal's handler comes
// first. REQUIRES: the call has returned to where ptrace stops the thread.
void MakeCallAgain(RegisterSet& registers);

// Tells elfutils the registers that an unwinding begins with.
[[nodiscard]] bool TellUnwinder(Dwfl_Thread* thread, const RegisterSet& registers);

}  // namespace leakgate
