#include "runner/arch/held_call.h"

#include <elf.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include <chrono>
#include <thread>
#include <utility>

#include "runner/arch/aarch64/vectors.h"

#ifndef NT_ARM_GCS
#define NT_ARM_GCS 0x410
#endif

namespace leakgate {
namespace {

using Clock = std::chrono::steady_clock;
using Signals = std::uint64_t;

constexpr Signals kAll = ~Signals{0};
constexpr std::chrono::seconds kPatience(10);  // for a thread that only waits for a processor

std::optional<Signals> BlockedBy(int tid) {
  Signals blocked = 0;
  if (::ptrace(PTRACE_GETSIGMASK, tid, sizeof(blocked), &blocked) != 0) return std::nullopt;
  return blocked;
}

bool Block(int tid, Signals signals) {
  return ::ptrace(PTRACE_SETSIGMASK, tid, sizeof(signals), &signals) == 0;
}

// Returns the status of the thread's next stop; nothing if the thread has ended. Its parent
// collects its end.
std::optional<int> AwaitStop(int tid) {
  const Clock::time_point deadline = Clock::now() + kPatience;
  const Clock::time_point spin_until = Clock::now() + std::chrono::microseconds(300);
  for (;;) {
    siginfo_t seen{};
    const int options = WSTOPPED | WEXITED | WNOHANG | WNOWAIT | __WALL;
    if (::waitid(P_PID, static_cast<id_t>(tid), &seen, options) != 0) return std::nullopt;
    if (seen.si_pid != 0) {
      if (seen.si_code != CLD_TRAPPED && seen.si_code != CLD_STOPPED) return std::nullopt;
      int status = 0;
      if (::waitpid(tid, &status, WNOHANG | __WALL) == tid) return status;
    }
    const Clock::time_point now = Clock::now();
    if (now >= deadline) return std::nullopt;
    if (now < spin_until) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }
}

// Lets a thread that is in front of a system call run to where the kernel stops it for the call.
// REQUIRES: the thread holds back all signals.
bool RunToCall(int tid) {
  constexpr int kCallStop = SIGTRAP | 0x80;
  constexpr int kMostStops = 8;
  ::ptrace(PTRACE_SETOPTIONS, tid, nullptr, PTRACE_O_TRACESYSGOOD);
  int signal = 0;
  for (int i = 0; i < kMostStops; ++i) {
    if (::ptrace(PTRACE_SYSCALL, tid, nullptr, signal) != 0) return false;
    const std::optional<int> status = AwaitStop(tid);
    if (!status) return false;
    if (WSTOPSIG(*status) == kCallStop) return true;
    if (*status >> 16 == PTRACE_EVENT_STOP) return false;  // its process is being stopped
    signal = WSTOPSIG(*status);
  }
  return false;
}

// Has the thread return from the call that it is about to make, without making it, as if a signal
// had interrupted it: the kernel makes the call again, or has it fail if a handler runs first.
void EndCallByItself(int tid) {
  constexpr std::int64_t kRestartUnlessHandled = 514;  // ERESTARTNOHAND of include/linux/errno.h
  std::optional<RegisterSet> registers = GetRegisterSet(tid);
  if (!registers) return;
  const std::int32_t call = std::exchange(registers->system_call, -1);
  if (!SetRegisterSet(tid, *registers) || !RunToCall(tid)) return;
  registers->system_call = call;
  registers->x[0] = static_cast<std::uint64_t>(-kRestartUnlessHandled);
  (void)SetRegisterSet(tid, *registers);
}

// Puts the thread into the call that `registers` are in front of. When ptrace then releases the
// thread, the call is interrupted. Most calls do not mind; those that fail when interrupted are not
// entered.
bool ReturnToCall(int tid, const RegisterSet& registers, Signals blocked) {
  const bool is_set = Block(tid, kAll) && SetRegisterSet(tid, registers);
  if (is_set && RunToCall(tid) && registers.fails_when_interrupted) EndCallByItself(tid);
  return Block(tid, blocked) && is_set;
}

bool Get(int tid, int set, void* to, std::size_t bytes) {
  iovec part{to, bytes};
  return ::ptrace(PTRACE_GETREGSET, tid, set, &part) == 0 && part.iov_len >= bytes;
}

}  // namespace

std::string_view WhyCannotCall(int tid) {
  ScalableHeader header{};
  if (Get(tid, NT_ARM_SVE, &header, sizeof(header)) && header.bytes == sizeof(header)) {
    return "the processor's streaming mode";
  }
  struct GuardedStack {
    std::uint64_t enabled, locked, pointer;
  } guarded{};
  if (Get(tid, NT_ARM_GCS, &guarded, sizeof(guarded)) && (guarded.enabled & 1) != 0) {
    return "functions that return by a guarded control stack, which "
           "GLIBC_TUNABLES=glibc.cpu.aarch64_gcs=0 switches off";
  }
  return {};
}

// The kernel shows it by the number of the system call with which it continues.
void NoteIfCallContinues(int tid, WhenInterrupted interrupted, RegisterSet& registers) {
  if (!registers.is_before_call) return;
  registers.fails_when_interrupted = interrupted == WhenInterrupted::kFails;
  if (registers.fails_when_interrupted) return;
  const std::optional<Signals> blocked = BlockedBy(tid);
  if (!blocked || !Block(tid, kAll)) return;
  if (RunToCall(tid)) {
    const std::optional<RegisterSet> at_call = GetRegisterSet(tid);
    registers.goes_on_waiting = at_call && at_call->system_call == SYS_restart_syscall;
  }
  (void)Block(tid, *blocked);
}

void RestartHeldCall(int tid, const RegisterSet& registers) {
  const std::optional<Signals> blocked = BlockedBy(tid);
  if (blocked) (void)ReturnToCall(tid, registers, *blocked);
}

bool PutBack(int tid, const HeldState& state) {
  RegisterSet registers = state.registers;
  if (!registers.is_before_call) {
    return Block(tid, state.blocked_signals) && SetRegisterSet(tid, registers);
  }
  if (registers.goes_on_waiting) registers.x[RegisterSet::kCallNumber] = SYS_restart_syscall;
  return ReturnToCall(tid, registers, state.blocked_signals);
}

}  // namespace leakgate
