#include "runner/attach/linux/held_thread.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include <cerrno>
#include <thread>

#include "runner/attach/linux/refusals.h"
#include "runner/process/proc_files.h"

namespace leakgate {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kStopPatience(30);  // for a thread that is sure to stop
constexpr int kCallStop = SIGTRAP | 0x80;          // with PTRACE_O_TRACESYSGOOD

}  // namespace

Expected<std::optional<HeldThread>> HeldThread::Take(int pid, int tid) {
  if (::ptrace(PTRACE_SEIZE, tid, nullptr, PTRACE_O_TRACESYSGOOD) != 0) {
    const int error = errno;
    if (error == ESRCH || HasDied(pid, tid)) return std::nullopt;
    return Unexpected(StopError(pid, error));
  }
  HeldThread thread(pid, tid);
  ::ptrace(PTRACE_INTERRUPT, tid, nullptr, nullptr);
  return Expected<std::optional<HeldThread>>(std::move(thread));
}

bool HeldThread::AwaitStop(std::chrono::milliseconds patience) {
  const Clock::time_point deadline = Clock::now() + patience;
  for (;;) {
    switch (WaitForStop(deadline)) {
      case ThreadStop::kEvent:
        // An interruption appears as SIGTRAP. Any other signal has stopped the process.
        was_stopped_ = signal_ != SIGTRAP;
        return true;
      case ThreadStop::kSignal:
        // The thread takes the signal first; the interruption comes after it.
        ::ptrace(PTRACE_CONT, tid_, nullptr, signal_);
        continue;
      case ThreadStop::kCall:
        ::ptrace(PTRACE_CONT, tid_, nullptr, 0);
        continue;
      case ThreadStop::kGone:
        Release();
        return false;
      case ThreadStop::kTimedOut:
        return false;
    }
  }
}

std::optional<RegisterSet> HeldThread::Registers() const { return GetRegisterSet(tid_); }

std::optional<HeldState> HeldThread::State() const {
  const auto registers = GetRegisterSet(tid_);
  if (!registers) return std::nullopt;
  auto vectors = GetVectors(tid_);
  if (!vectors) return std::nullopt;
  HeldState state{.registers = *registers, .vectors = *std::move(vectors)};
  if (::ptrace(PTRACE_GETSIGMASK, tid_, sizeof(state.blocked_signals), &state.blocked_signals) !=
      0) {
    return std::nullopt;
  }
  return state;
}

bool HeldThread::SetRegisters(const RegisterSet& registers) const {
  return SetRegisterSet(tid_, registers);
}

bool HeldThread::SetVectors(const std::vector<std::uint8_t>& vectors) const {
  return leakgate::SetVectors(tid_, vectors);
}

bool HeldThread::SetBlockedSignals(std::uint64_t signals) const {
  return ::ptrace(PTRACE_SETSIGMASK, tid_, sizeof(signals), &signals) == 0;
}

bool HeldThread::RunToCall(int signal) const {
  return ::ptrace(PTRACE_SYSCALL, tid_, nullptr, signal) == 0;
}

ThreadStop HeldThread::Interrupt() {
  ::ptrace(PTRACE_INTERRUPT, tid_, nullptr, nullptr);
  ::ptrace(PTRACE_CONT, tid_, nullptr, nullptr);  // where it is stopped
  return WaitForStop(Clock::now() + kStopPatience);
}

// Mostly a stop comes within microseconds, and sleeping would take longer than that.
ThreadStop HeldThread::WaitForStop(Clock::time_point deadline) {
  const Clock::time_point spin_until = Clock::now() + std::chrono::microseconds(300);
  for (;;) {
    const ThreadStop stop = LookAt();
    if (stop != ThreadStop::kTimedOut) return stop;
    const Clock::time_point now = Clock::now();
    if (now >= deadline) return ThreadStop::kTimedOut;
    if (now < spin_until) {
      std::this_thread::yield();
    } else {
      // The kernel reports the end of a first thread only when all others have ended.
      if (HasDied(pid_, tid_)) return ThreadStop::kGone;
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }
}

// The end of a process is left to its parent to collect. The end of any other thread is collected
// here, or the process could not end.
ThreadStop HeldThread::LookAt() {
  siginfo_t seen{};
  const auto id = static_cast<id_t>(tid_);
  if (::waitid(P_PID, id, &seen, WSTOPPED | WEXITED | WNOHANG | WNOWAIT | __WALL) != 0) {
    return ThreadStop::kGone;
  }
  if (seen.si_pid == 0) return ThreadStop::kTimedOut;
  if (seen.si_code != CLD_TRAPPED && seen.si_code != CLD_STOPPED) {
    if (tid_ != pid_) ::waitpid(tid_, nullptr, __WALL | WNOHANG);
    return ThreadStop::kGone;
  }
  int status = 0;
  if (::waitpid(tid_, &status, WNOHANG | __WALL) != tid_ || !WIFSTOPPED(status)) {
    return ThreadStop::kTimedOut;
  }
  signal_ = WSTOPSIG(status);
  if (status >> 16 == PTRACE_EVENT_STOP) return ThreadStop::kEvent;
  return signal_ == kCallStop ? ThreadStop::kCall : ThreadStop::kSignal;
}

void HeldThread::Release() {
  if (tid_ == 0) return;
  if (::ptrace(PTRACE_DETACH, tid_, nullptr, nullptr) != 0 && tid_ != pid_) {
    // It is not stopped, or was killed while it was. A thread that has died must be collected.
    ::waitpid(tid_, nullptr, __WALL | WNOHANG);
  }
  tid_ = 0;
}

}  // namespace leakgate
