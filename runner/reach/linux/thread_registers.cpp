#include "runner/reach/linux/thread_registers.h"

#include <elf.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

#include <array>
#include <cstddef>
#include <cstring>

#include "runner/process/interrupted_call.h"

#ifndef NT_X86_XSTATE
#define NT_X86_XSTATE 0x202
#endif

namespace leakgate {
namespace {

std::size_t ReadSet(int tid, int set, void* to, std::size_t bytes) {
  iovec part{to, bytes};
  return ::ptrace(PTRACE_GETREGSET, tid, set, &part) == 0 ? part.iov_len : 0;
}

}  // namespace

std::optional<FrozenThread> ReadRegisters(int tid) {
  user_regs_struct general{};
  if (ReadSet(tid, NT_PRSTATUS, &general, sizeof(general)) != sizeof(general)) return std::nullopt;

  FrozenThread thread;
  thread.tid = tid;
  thread.stack_pointer = general.rsp;
  thread.program_counter = general.rip;
  thread.thread_pointer = general.fs_base;
  thread.registers = {general.rax, general.rbx, general.rcx, general.rdx, general.rsi,
                      general.rdi, general.rbp, general.r8,  general.r9,  general.r10,
                      general.r11, general.r12, general.r13, general.r14, general.r15};
  // As large as it gets, with the tiles of AMX.
  std::array<std::uint64_t, 2048> vectors;
  const std::size_t bytes = ReadSet(tid, NT_X86_XSTATE, vectors.data(), sizeof(vectors));
  thread.registers.insert(thread.registers.end(), vectors.begin(),
                          vectors.begin() + static_cast<std::ptrdiff_t>(bytes / 8));
  return thread;
}

void RestartInterruptedCall(int tid) {
  user_regs_struct general{};
  if (ReadSet(tid, NT_PRSTATUS, &general, sizeof(general)) != sizeof(general)) return;
  if (!RestartInterruptedCall(general)) return;
  iovec part{&general, sizeof(general)};
  ::ptrace(PTRACE_SETREGSET, tid, NT_PRSTATUS, &part);
}

}  // namespace leakgate
