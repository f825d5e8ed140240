// The registers of a thread of another process. The calling thread traces it and has stopped it.
//
// RegisterSet is the processor's own struct. Only the processor's folder knows its fields; the rest
// of the runner uses the functions below, and kRedZoneBytes: how much below the stack pointer
// functions may use.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#if defined(__x86_64__)
#include "runner/arch/x86_64/register_set.h"
#elif defined(__aarch64__)
#include "runner/arch/aarch64/register_set.h"
#else
#error "leakgate does not know this processor: runner/arch/ has no folder for it"
#endif

struct Dwfl_Thread;  // elfutils

namespace leakgate {

// Everything that must be restored so that a thread goes on as if nothing had happened.
struct HeldState {
  RegisterSet registers{};
  std::vector<std::uint8_t> vectors;  // in the kernel's form
  std::uint64_t blocked_signals = 0;
};

// Each returns nothing, or false, if the thread has ended.
[[nodiscard]] std::optional<RegisterSet> GetRegisterSet(int tid);
[[nodiscard]] bool SetRegisterSet(int tid, const RegisterSet& registers);
[[nodiscard]] std::optional<std::vector<std::uint8_t>> GetVectors(int tid);
[[nodiscard]] bool SetVectors(int tid, const std::vector<std::uint8_t>& vectors);

[[nodiscard]] std::uint64_t StackPointerOf(const RegisterSet& registers);
[[nodiscard]] std::uint64_t ProgramCounterOf(const RegisterSet& registers);
[[nodiscard]] std::uint64_t ThreadPointerOf(const RegisterSet& registers);
void SetStackPointer(RegisterSet& registers, std::uint64_t address);

// The values of the registers that may hold pointers, except the stack pointer.
[[nodiscard]] std::vector<std::uint64_t> GeneralValuesOf(const RegisterSet& registers);

// The number of the system call that the thread is in; negative if it is in none.
[[nodiscard]] std::int64_t SystemCallOf(const RegisterSet& registers);
// The value that a function or a system call has returned.
[[nodiscard]] std::uint64_t ResultOf(const RegisterSet& registers);

// Some processors have older forms of a system call besides the one that all have. Returns the
// number of the latter, such as epoll_pwait for epoll_wait: it waits in the same way, and the
// arguments that both have are in the same places. Returns other numbers as they are.
[[nodiscard]] std::int64_t NewerFormOf(std::int64_t call);

// Changes `registers` so that the kernel makes the thread's system call again, unless it runs a
// signal handler first. REQUIRES: the call has returned to where ptrace stops the thread.
void PrepareCallRestart(RegisterSet& registers);

// Changes the fourth argument of a call that is made again. Functions need not keep its register.
void SetFourthArgument(RegisterSet& registers, std::uint64_t value);

// Returns the return address in a word of a stack, which some processors sign.
[[nodiscard]] std::uint64_t WithoutSignature(std::uint64_t word);

// Gives elfutils the registers with which an unwinding begins. Returns false if it refuses them.
[[nodiscard]] bool SetUnwinderRegisters(Dwfl_Thread* thread, const RegisterSet& registers);

}  // namespace leakgate
