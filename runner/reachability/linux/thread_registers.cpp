#include "runner/reachability/linux/thread_registers.h"

#include <elf.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>

#ifndef NT_X86_XSTATE
#define NT_X86_XSTATE 0x202
#endif

namespace leakgate {
namespace {

// What the kernel restarts by itself unless a handler runs (include/linux/errno.h).
constexpr long long kRestartUnlessHandled = 514;

// The calls that a stop ends with EINTR (signal(7)) and that may be made again.
bool MayBeRestarted(unsigned long long call) {
  switch (call) {
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
    case SYS_rt_sigtimedwait:
    case SYS_semop:
    case SYS_semtimedop:
    case SYS_msgrcv:
    case SYS_msgsnd:
    case SYS_io_getevents:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_accept:
    case SYS_accept4:
      return true;
    default:
#ifdef SYS_epoll_pwait2
      return call == SYS_epoll_pwait2;
#else
      return false;
#endif
  }
}

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
  const auto result = static_cast<long long>(general.rax);
  if (static_cast<long long>(general.orig_rax) < 0 || result != -EINTR) return;
  if (!MayBeRestarted(general.orig_rax)) return;
  general.rax = static_cast<unsigned long long>(-kRestartUnlessHandled);
  iovec part{&general, sizeof(general)};
  ::ptrace(PTRACE_SETREGSET, tid, NT_PRSTATUS, &part);
}

}  // namespace leakgate
