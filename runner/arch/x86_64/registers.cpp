#include "runner/arch/registers.h"

#include <elf.h>
#include <elfutils/libdwfl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <iterator>

#ifndef NT_X86_XSTATE
#define NT_X86_XSTATE 0x202
#endif

namespace leakgate {
namespace {

// The vectors are not larger, even with the tiles of AMX.
constexpr std::size_t kMostVectorBytes = 16384;

bool Get(int tid, int set, iovec& part) { return ::ptrace(PTRACE_GETREGSET, tid, set, &part) == 0; }

bool Set(int tid, int set, const void* from, std::size_t bytes) {
  iovec part{const_cast<void*>(from), bytes};
  return ::ptrace(PTRACE_SETREGSET, tid, set, &part) == 0;
}

}  // namespace

std::optional<RegisterSet> GetRegisterSet(int tid) {
  RegisterSet registers{};
  iovec part{&registers, sizeof(registers)};
  if (!Get(tid, NT_PRSTATUS, part) || part.iov_len != sizeof(registers)) return std::nullopt;
  return registers;
}

bool SetRegisterSet(int tid, const RegisterSet& registers) {
  return Set(tid, NT_PRSTATUS, &registers, sizeof(registers));
}

std::optional<std::vector<std::uint8_t>> GetVectors(int tid) {
  std::vector<std::uint8_t> vectors(kMostVectorBytes);
  iovec part{vectors.data(), vectors.size()};
  if (!Get(tid, NT_X86_XSTATE, part)) return std::nullopt;
  vectors.resize(part.iov_len);
  return vectors;
}

bool SetVectors(int tid, const std::vector<std::uint8_t>& vectors) {
  return Set(tid, NT_X86_XSTATE, vectors.data(), vectors.size());
}

std::uint64_t StackPointerOf(const RegisterSet& registers) { return registers.rsp; }
std::uint64_t ProgramCounterOf(const RegisterSet& registers) { return registers.rip; }
std::uint64_t ThreadPointerOf(const RegisterSet& registers) { return registers.fs_base; }
void SetStackPointer(RegisterSet& registers, std::uint64_t address) { registers.rsp = address; }

std::vector<std::uint64_t> GeneralValuesOf(const RegisterSet& r) {
  // The GS base is the program's own: the C library uses FS.
  return {r.rax, r.rbx, r.rcx, r.rdx, r.rsi, r.rdi, r.rbp, r.r8,
          r.r9,  r.r10, r.r11, r.r12, r.r13, r.r14, r.r15, r.gs_base};
}

std::int64_t SystemCallOf(const RegisterSet& registers) {
  return static_cast<std::int64_t>(registers.orig_rax);
}

std::uint64_t ResultOf(const RegisterSet& registers) { return registers.rax; }

std::int64_t NewerFormOf(std::int64_t call) {
  switch (call) {
    case SYS_epoll_wait:
      return SYS_epoll_pwait;
    case SYS_poll:
      return SYS_ppoll;
    case SYS_select:
      return SYS_pselect6;
    case SYS_pause:
      return SYS_rt_sigsuspend;
    default:
      return call;
  }
}

void PrepareCallRestart(RegisterSet& registers) {
  constexpr std::int64_t kRestartUnlessHandled = 514;  // ERESTARTNOHAND of include/linux/errno.h
  registers.rax = static_cast<std::uint64_t>(-kRestartUnlessHandled);
}

void SetFourthArgument(RegisterSet& registers, std::uint64_t value) { registers.r10 = value; }

std::uint64_t WithoutSignature(std::uint64_t word) { return word; }

// The order is that of DWARF's numbers (System V ABI, AMD64 supplement, figure 3.36).
bool SetUnwinderRegisters(Dwfl_Thread* thread, const RegisterSet& r) {
  const Dwarf_Word words[] = {r.rax, r.rdx, r.rcx, r.rbx, r.rsi, r.rdi, r.rbp, r.rsp, r.r8,
                              r.r9,  r.r10, r.r11, r.r12, r.r13, r.r14, r.r15, r.rip};
  return ::dwfl_thread_state_registers(thread, 0, std::size(words), words);
}

}  // namespace leakgate
