#include "runner/run/linux/program_watch.h"

#include <unistd.h>

#include <algorithm>

#include "runner/base/signal_end.h"

namespace leakgate {
namespace {

// How long after a request to stop a program still stops on account of it.
constexpr std::chrono::seconds kStopPatience(2);

bool AsksToStop(int signal) { return signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU; }

void PassOn(const siginfo_t& signal, pid_t pid) {
  if (signal.si_code == SI_QUEUE) {
    ::sigqueue(pid, signal.si_signo, signal.si_value);
  } else {
    ::kill(pid, signal.si_signo);
  }
}

}  // namespace

std::optional<ProgramStatus> ProgramWatch::WaitUntil(std::optional<Clock::time_point> deadline) {
  constexpr std::chrono::milliseconds kPatience(1000);
  for (;;) {
    const std::optional<ProgramStatus> end = process_.Poll();
    if (end) return end;
    StopIfAsked();

    std::chrono::milliseconds patience = kPatience;
    if (deadline) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - Clock::now());
      if (left <= std::chrono::milliseconds(0)) return std::nullopt;
      patience = std::min(patience, left);
    }
    const std::optional<siginfo_t> signal = signals_.Take(patience);
    if (signal) OnSignal(*signal);
  }
}

std::optional<int> ProgramWatch::TakeLateRequest() {
  const sigset_t requests = EndSignals();
  constexpr timespec kNoPatience{};
  siginfo_t signal{};
  while (::sigtimedwait(&requests, &signal, &kNoPatience) > 0) {
    if (IsForProgramToo(signal)) return signal.si_signo;
  }
  return std::nullopt;
}

void ProgramWatch::OnSignal(const siginfo_t& signal) {
  if (AsksToStop(signal.si_signo)) asked_to_stop_ = Clock::now();
  if (IsForProgramToo(signal)) PassOn(signal, process_.pid());
}

// What the terminal sends reaches the whole group, the program included. An
// alarm is the runner's alone: whoever set it before exec meant the program.
bool ProgramWatch::IsForProgramToo(const siginfo_t& signal) {
  if (signal.si_signo == SIGCHLD) return false;
  if (!WasSentByProcess(signal)) return signal.si_signo == SIGALRM;
  const bool is_own = signal.si_pid == ::getpid() || signal.si_pid == process_.pid();
  return !is_own && !witness_.HasSeen(signal);
}

// Only if the runner was asked to as well: a program that something else stops
// is something else's to continue, and the runner would sleep on.
void ProgramWatch::StopIfAsked() {
  if (asked_to_stop_ && Clock::now() - *asked_to_stop_ > kStopPatience) asked_to_stop_.reset();
  if (!asked_to_stop_ || !process_.is_stopped()) return;
  asked_to_stop_.reset();
  if (before_stop_) before_stop_();
  ::kill(::getpid(), SIGSTOP);
  if (after_stop_) after_stop_();
}

}  // namespace leakgate
