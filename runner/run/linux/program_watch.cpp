#include "runner/run/linux/program_watch.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <ctime>

#include "runner/base/signal_end.h"

namespace leakgate {
namespace {

constexpr int kOfFaults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};

// The kernel signals the processes of a group one after the other, which takes less than this.
constexpr std::chrono::milliseconds kWitnessPatience(20);
// Equal signals may reach the runner as one, so reports that nobody asked for are forgotten.
constexpr std::chrono::milliseconds kMemory(250);

timespec MonotonicTime() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now;
}

std::chrono::nanoseconds Between(const timespec& begin, const timespec& end) {
  return std::chrono::seconds(end.tv_sec - begin.tv_sec) +
         std::chrono::nanoseconds(end.tv_nsec - begin.tv_nsec);
}

// Closes everything but `out`, so that a reader of the runner's output sees its end.
void KeepOnly(int out) {
  if (out > 0) ::close_range(0, static_cast<unsigned>(out) - 1, 0);
  ::close_range(static_cast<unsigned>(out) + 1, UINT_MAX, 0);
  (void)!::chdir("/");
}

[[noreturn]] void Witness(pid_t runner, int out, const sigset_t& signals) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != runner) ::_exit(0);
  ::prctl(PR_SET_NAME, "signal-witness");
  KeepOnly(out);
  for (;;) {
    siginfo_t signal{};
    if (::sigwaitinfo(&signals, &signal) <= 0 || !WasSentByProcess(signal)) continue;
    const GroupWitness::Sighting sighting{signal.si_signo, signal.si_pid, MonotonicTime()};
    (void)!::write(out, &sighting, sizeof(sighting));
  }
}

// How long after a request to stop the program's stop counts as caused by it.
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

BlockedSignals::BlockedSignals() {
  ::sigfillset(&blocked_);
  for (const int signal : kOfFaults) ::sigdelset(&blocked_, signal);
  ::pthread_sigmask(SIG_BLOCK, &blocked_, &original_);
}

// What the program has sent to its process group, and ignored itself, must not end the runner now.
// What asks to end or to stop still does.
BlockedSignals::~BlockedSignals() {
  sigset_t for_program = blocked_;
  for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGALRM, SIGTSTP, SIGTTIN, SIGTTOU}) {
    ::sigdelset(&for_program, signal);
  }
  constexpr timespec kNoPatience{};
  while (::sigtimedwait(&for_program, nullptr, &kNoPatience) > 0) {
  }
  ::pthread_sigmask(SIG_SETMASK, &original_, nullptr);
}

std::optional<siginfo_t> BlockedSignals::Take(std::chrono::milliseconds patience) const {
  const timespec timeout{patience.count() / 1000, patience.count() % 1000 * 1'000'000};
  siginfo_t signal{};
  if (::sigtimedwait(&blocked_, &signal, &timeout) <= 0) return std::nullopt;
  return signal;
}

OwnEndSignals::OwnEndSignals(std::optional<int> late) {
  const sigset_t requests = EndSignals();
  ::pthread_sigmask(SIG_UNBLOCK, &requests, &blocked_);
  if (late) ::raise(*late);
}

OwnEndSignals::~OwnEndSignals() { ::pthread_sigmask(SIG_SETMASK, &blocked_, nullptr); }

GroupWitness::GroupWitness(const sigset_t& signals) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return;
  sightings_fd_ = UniqueFd(ends[0]);
  const UniqueFd out(ends[1]);
  const pid_t runner = ::getpid();
  pid_ = ::fork();
  if (pid_ == 0) Witness(runner, out.get(), signals);
}

GroupWitness::~GroupWitness() {
  if (pid_ < 0) return;
  // Where a filter refuses kill, the witness ends with this process.
  if (::kill(pid_, SIGKILL) == 0) ::waitpid(pid_, nullptr, 0);
}

bool GroupWitness::HasSeen(const siginfo_t& signal) {
  if (pid_ < 0) return false;
  do {
    const timespec now = MonotonicTime();
    std::erase_if(sightings_,
                  [&](const Sighting& old) { return Between(old.seen, now) > kMemory; });
    const auto match =
        std::find_if(sightings_.begin(), sightings_.end(), [&](const Sighting& seen) {
          return seen.signal == signal.si_signo && seen.sender == signal.si_pid;
        });
    if (match == sightings_.end()) continue;
    sightings_.erase(match);
    return true;
  } while (WaitForSighting(kWitnessPatience));
  return false;
}

bool GroupWitness::WaitForSighting(std::chrono::milliseconds patience) {
  pollfd wait{sightings_fd_.get(), POLLIN, 0};
  if (::poll(&wait, 1, static_cast<int>(patience.count())) <= 0) return false;
  Sighting sighting{};
  if (::read(sightings_fd_.get(), &sighting, sizeof(sighting)) != sizeof(sighting)) return false;
  sightings_.push_back(sighting);
  return true;
}

std::optional<ProgramExit> ProgramWatch::WaitUntil(std::optional<Clock::time_point> deadline) {
  constexpr std::chrono::milliseconds kPatience(1000);
  for (;;) {
    const std::optional<ProgramExit> end = process_.Poll();
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
    if (MustPassOn(signal)) return signal.si_signo;
  }
  return std::nullopt;
}

void ProgramWatch::OnSignal(const siginfo_t& signal) {
  if (AsksToStop(signal.si_signo)) asked_to_stop_ = Clock::now();
  if (MustPassOn(signal)) PassOn(signal, process_.pid());
}

// The terminal's signals reach the whole group, the program included. An alarm reaches the runner
// alone, but a process that set it before it executed the runner meant it for the program.
bool ProgramWatch::MustPassOn(const siginfo_t& signal) {
  if (signal.si_signo == SIGCHLD) return false;
  if (!WasSentByProcess(signal)) return signal.si_signo == SIGALRM;
  const bool is_own = signal.si_pid == ::getpid() || signal.si_pid == process_.pid();
  return !is_own && !witness_.HasSeen(signal);
}

// Stops the runner only if it was asked to stop as well. If something else has stopped the program,
// it may continue the program alone, and the runner would stay stopped.
void ProgramWatch::StopIfAsked() {
  if (asked_to_stop_ && Clock::now() - *asked_to_stop_ > kStopPatience) asked_to_stop_.reset();
  if (!asked_to_stop_ || !process_.is_stopped()) return;
  asked_to_stop_.reset();
  if (before_stop_) before_stop_();
  ::kill(::getpid(), SIGSTOP);
  if (after_stop_) after_stop_();
}

}  // namespace leakgate
