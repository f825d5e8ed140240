#include "runner/run/program_watch.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <ctime>
#include <type_traits>

#include "runner/base/linux/end_signals.h"
#include "runner/run/linux/signal_set.h"

namespace leakgate {
namespace {

constexpr int kOfFaults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};

// The kernel signals the processes of a group one after the other, which takes less than this.
constexpr std::chrono::milliseconds kWitnessPatience(20);
// Equal signals may reach the runner as one, so reports that nobody asked for are forgotten.
constexpr std::chrono::milliseconds kMemory(250);

using Clock = std::chrono::steady_clock;  // the same in each process (CLOCK_MONOTONIC)

ReceivedSignal ReceivedFrom(const siginfo_t& signal) {
  return {.number = signal.si_signo,
          .sender = signal.si_pid,
          .code = signal.si_code,
          .value = reinterpret_cast<std::intptr_t>(signal.si_value.sival_ptr)};
}

// Returns nullopt if none of `signals` comes for `patience`.
std::optional<ReceivedSignal> TakeOneOf(const sigset_t& signals,
                                        std::chrono::milliseconds patience) {
  const timespec timeout{patience.count() / 1000, patience.count() % 1000 * 1'000'000};
  siginfo_t signal{};
  if (::sigtimedwait(&signals, &signal, &timeout) <= 0) return std::nullopt;
  return ReceivedFrom(signal);
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
    if (::sigwaitinfo(&signals, &signal) <= 0 || !WasSentByProcess(ReceivedFrom(signal))) continue;
    const GroupWitness::Sighting sighting{signal.si_signo, signal.si_pid, Clock::now()};
    static_assert(std::is_trivially_copyable_v<GroupWitness::Sighting>);
    (void)!::write(out, &sighting, sizeof(sighting));
  }
}

// How long after a request to stop the program's stop counts as caused by it.
constexpr std::chrono::seconds kStopPatience(2);

bool AsksToStop(int signal) { return signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU; }

void PassOn(const ReceivedSignal& signal, pid_t pid) {
  if (signal.code == SI_QUEUE) {
    sigval value{};
    value.sival_ptr = reinterpret_cast<void*>(signal.value);
    ::sigqueue(pid, signal.number, value);
  } else {
    ::kill(pid, signal.number);
  }
}

}  // namespace

BlockedSignals::BlockedSignals() {
  sigset_t blocked;
  sigset_t original;
  ::sigfillset(&blocked);
  for (const int signal : kOfFaults) ::sigdelset(&blocked, signal);
  ::pthread_sigmask(SIG_BLOCK, &blocked, &original);
  blocked_ = MaskOf(blocked);
  original_ = MaskOf(original);
}

// What the program has sent to its process group, and ignored itself, must not end the runner now.
// What asks to end or to stop still does.
BlockedSignals::~BlockedSignals() {
  sigset_t for_program = SetOf(blocked_);
  for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGALRM, SIGTSTP, SIGTTIN, SIGTTOU}) {
    ::sigdelset(&for_program, signal);
  }
  while (TakeOneOf(for_program, {})) {
  }
  const sigset_t original = SetOf(original_);
  ::pthread_sigmask(SIG_SETMASK, &original, nullptr);
}

std::optional<ReceivedSignal> BlockedSignals::Take(std::chrono::milliseconds patience) const {
  return TakeOneOf(SetOf(blocked_), patience);
}

OwnEndSignals::OwnEndSignals(std::optional<int> late) {
  const sigset_t requests = EndSignals();
  sigset_t blocked;
  ::pthread_sigmask(SIG_UNBLOCK, &requests, &blocked);
  blocked_ = MaskOf(blocked);
  if (late) ::raise(*late);
}

OwnEndSignals::~OwnEndSignals() {
  const sigset_t blocked = SetOf(blocked_);
  ::pthread_sigmask(SIG_SETMASK, &blocked, nullptr);
}

bool AsksToEnd(int signal) {
  return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
}

bool EndedByWish(const ProgramExit& program) {
  return program.signal && (*program.signal == SIGKILL || AsksToEnd(*program.signal));
}

GroupWitness::GroupWitness(const SignalMask& signals) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return;
  sightings_fd_ = UniqueFd(ends[0]);
  const UniqueFd out(ends[1]);
  const pid_t runner = ::getpid();
  pid_ = ::fork();
  if (pid_ == 0) Witness(runner, out.get(), SetOf(signals));
}

GroupWitness::~GroupWitness() {
  if (pid_ < 0) return;
  // Where a filter refuses kill, the witness ends with this process.
  if (::kill(pid_, SIGKILL) == 0) ::waitpid(pid_, nullptr, 0);
}

bool GroupWitness::HasSeen(const ReceivedSignal& signal) {
  if (pid_ < 0) return false;
  do {
    const Clock::time_point now = Clock::now();
    std::erase_if(sightings_, [&](const Sighting& old) { return now - old.seen > kMemory; });
    const auto match =
        std::find_if(sightings_.begin(), sightings_.end(), [&](const Sighting& seen) {
          return seen.signal == signal.number && seen.sender == signal.sender;
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
    const std::optional<ReceivedSignal> signal = signals_.Take(patience);
    if (signal) OnSignal(*signal);
  }
}

std::optional<int> ProgramWatch::TakeLateRequest() {
  const sigset_t requests = EndSignals();
  while (const std::optional<ReceivedSignal> signal = TakeOneOf(requests, {})) {
    if (MustPassOn(*signal)) return signal->number;
  }
  return std::nullopt;
}

void ProgramWatch::OnSignal(const ReceivedSignal& signal) {
  if (AsksToStop(signal.number)) asked_to_stop_ = Clock::now();
  if (MustPassOn(signal)) PassOn(signal, process_.pid());
}

// The terminal's signals reach the whole group, the program included. An alarm reaches the runner
// alone, but a process that set it before it executed the runner meant it for the program.
bool ProgramWatch::MustPassOn(const ReceivedSignal& signal) {
  if (signal.number == SIGCHLD) return false;
  if (!WasSentByProcess(signal)) return signal.number == SIGALRM;
  const bool is_own = signal.sender == ::getpid() || signal.sender == process_.pid();
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

std::string_view UnseenEndText() {
  return "the program ended without its exit handlers, or executed another that cannot be traced "
         "(static, or without LD_PRELOAD), so what it left could not be judged; run the test "
         "binary itself";
}

std::string_view NoAgentText() {
  return "the agent did not start in the program, so nothing was traced; is it static, or does "
         "it clear LD_PRELOAD?";
}

}  // namespace leakgate
