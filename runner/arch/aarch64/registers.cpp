#include "runner/arch/registers.h"

#include <elf.h>
#include <elfutils/libdwfl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <iterator>

#include "runner/arch/aarch64/instructions.h"
#include "runner/arch/aarch64/vectors.h"

namespace leakgate {
namespace {

constexpr std::size_t kGeneralBytes = offsetof(RegisterSet, thread_pointer);  // user_pt_regs
static_assert(kGeneralBytes == 272);
// Register 31 of DWARF is the stack pointer (DWARF for the Arm 64-bit Architecture, 4.1).
constexpr unsigned kUnwinderRegisters = 32;

template <typename Value>
bool Get(int tid, int set, Value& value, std::size_t bytes = sizeof(Value)) {
  iovec part{&value, bytes};
  return ::ptrace(PTRACE_GETREGSET, tid, set, &part) == 0 && part.iov_len == bytes;
}

bool Set(int tid, int set, const void* from, std::size_t bytes) {
  iovec part{const_cast<void*>(from), bytes};
  return ::ptrace(PTRACE_SETREGSET, tid, set, &part) == 0;
}

bool MakesCall(int tid, std::uint64_t address) {
  errno = 0;
  const long word = ::ptrace(PTRACE_PEEKTEXT, tid, address, nullptr);
  return errno == 0 && IsSystemCall(static_cast<std::uint32_t>(word));
}

// When a call has failed, x0 has its result. The kernel reports what x0 was before only at stops
// that it made for a call. It considers a stop to be one of these if its siginfo says so.
std::optional<std::uint64_t> FirstArgumentOfCall(int tid) {
  constexpr int kSeccompStop = SIGTRAP | (PTRACE_EVENT_SECCOMP << 8);
  siginfo_t stop{};
  if (::ptrace(PTRACE_GETSIGINFO, tid, nullptr, &stop) != 0) return std::nullopt;
  siginfo_t call_stop = stop;
  call_stop.si_code = kSeccompStop;
  if (::ptrace(PTRACE_SETSIGINFO, tid, nullptr, &call_stop) != 0) return std::nullopt;
  __ptrace_syscall_info call{};
  const long got = ::ptrace(PTRACE_GET_SYSCALL_INFO, tid, sizeof(call), &call);
  ::ptrace(PTRACE_SETSIGINFO, tid, nullptr, &stop);
  if (got <= 0 || call.op != PTRACE_SYSCALL_INFO_SECCOMP) return std::nullopt;
  return call.seccomp.args[0];
}

void FindCall(int tid, RegisterSet& registers) {
  if (registers.system_call >= 0) return;
  registers.is_before_call = MakesCall(tid, registers.pc);
  if (registers.is_before_call) return;
  registers.is_behind_call = MakesCall(tid, registers.pc - kInstructionBytes);
  const bool has_failed = static_cast<std::int64_t>(registers.x[0]) == -EINTR;
  if (!registers.is_behind_call || !has_failed) return;
  const std::optional<std::uint64_t> argument = FirstArgumentOfCall(tid);
  registers.is_behind_call = argument.has_value();
  registers.first_argument = argument.value_or(0);
}

}  // namespace

std::optional<RegisterSet> GetRegisterSet(int tid) {
  RegisterSet registers{};
  if (!Get(tid, NT_PRSTATUS, registers, kGeneralBytes) ||
      !Get(tid, NT_ARM_TLS, registers.thread_pointer) ||
      !Get(tid, NT_ARM_SYSTEM_CALL, registers.system_call)) {
    return std::nullopt;
  }
  FindCall(tid, registers);
  return registers;
}

// The number is set last: setting it decides what the kernel does with a call that it forgets.
bool SetRegisterSet(int tid, const RegisterSet& registers) {
  return Set(tid, NT_PRSTATUS, &registers, kGeneralBytes) &&
         Set(tid, NT_ARM_SYSTEM_CALL, &registers.system_call, sizeof(registers.system_call));
}

std::optional<std::vector<std::uint8_t>> GetVectors(int tid) {
  std::vector<std::uint8_t> vectors(kPlainVectorBytes + kMostScalableBytes);
  iovec plain{vectors.data(), kPlainVectorBytes};
  if (::ptrace(PTRACE_GETREGSET, tid, NT_PRFPREG, &plain) != 0 ||
      plain.iov_len != kPlainVectorBytes) {
    return std::nullopt;
  }
  iovec scalable{&vectors[kPlainVectorBytes], kMostScalableBytes};
  const bool has_scalable = ::ptrace(PTRACE_GETREGSET, tid, NT_ARM_SVE, &scalable) == 0;
  vectors.resize(kPlainVectorBytes + (has_scalable ? scalable.iov_len : 0));
  return vectors;
}

bool SetVectors(int tid, const std::vector<std::uint8_t>& vectors) {
  if (vectors.size() > kPlainVectorBytes) {  // these include the plain ones
    return Set(tid, NT_ARM_SVE, &vectors[kPlainVectorBytes], vectors.size() - kPlainVectorBytes);
  }
  return Set(tid, NT_PRFPREG, vectors.data(), vectors.size());
}

std::uint64_t StackPointerOf(const RegisterSet& registers) { return registers.sp; }
std::uint64_t ProgramCounterOf(const RegisterSet& registers) { return registers.pc; }
std::uint64_t ThreadPointerOf(const RegisterSet& registers) { return registers.thread_pointer; }
void SetStackPointer(RegisterSet& registers, std::uint64_t address) { registers.sp = address; }

std::vector<std::uint64_t> GeneralValuesOf(const RegisterSet& registers) {
  return {std::begin(registers.x), std::end(registers.x)};
}

std::int64_t SystemCallOf(const RegisterSet& registers) {
  if (registers.system_call >= 0) return registers.system_call;
  if (!registers.is_before_call && !registers.is_behind_call) return -1;
  return static_cast<std::int32_t>(registers.x[RegisterSet::kCallNumber]);
}

std::uint64_t ResultOf(const RegisterSet& registers) { return registers.x[0]; }

std::int64_t NewerFormOf(std::int64_t call) { return call; }

void PrepareCallRestart(RegisterSet& registers) {
  registers.x[0] = registers.first_argument;
  registers.pc -= kInstructionBytes;
  registers.is_before_call = true;
  registers.is_behind_call = false;
  registers.fails_when_interrupted = true;
}

void SetFourthArgument(RegisterSet& registers, std::uint64_t value) { registers.x[3] = value; }

std::uint64_t WithoutSignature(std::uint64_t word) {
  constexpr std::uint64_t kSignature = 0x7FULL << 48;  // NT_ARM_PAC_MASK, with addresses of 48 bits
  constexpr std::uint64_t kKernels = 1ULL << 55;
  return (word & kKernels) == 0 ? word & ~kSignature : word;
}

bool SetUnwinderRegisters(Dwfl_Thread* thread, const RegisterSet& registers) {
  Dwarf_Word words[kUnwinderRegisters];
  std::copy(std::begin(registers.x), std::end(registers.x), words);
  words[RegisterSet::kLink] = WithoutSignature(registers.x[RegisterSet::kLink]);
  words[kUnwinderRegisters - 1] = registers.sp;
  if (!::dwfl_thread_state_registers(thread, 0, kUnwinderRegisters, words)) return false;
  ::dwfl_thread_state_register_pc(thread, registers.pc);
  return true;
}

}  // namespace leakgate
