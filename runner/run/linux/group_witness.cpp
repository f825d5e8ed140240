#include "runner/run/linux/group_witness.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <climits>

#include "runner/run/linux/signals.h"

namespace leakgate {
namespace {

// The kernel signals a group one process after the other; that takes no longer.
constexpr std::chrono::milliseconds kWitnessPatience(20);
// Equal signals may reach the runner as one: what was not asked for is forgotten.
constexpr std::chrono::milliseconds kMemory(250);

timespec RealTime() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now;
}

std::chrono::nanoseconds Between(const timespec& begin, const timespec& end) {
  return std::chrono::seconds(end.tv_sec - begin.tv_sec) +
         std::chrono::nanoseconds(end.tv_nsec - begin.tv_nsec);
}

// Holds nothing open but `out`: a reader of the runner's output must see its end.
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
    const GroupWitness::Sighting sighting{signal.si_signo, signal.si_pid, RealTime()};
    (void)!::write(out, &sighting, sizeof(sighting));
  }
}

}  // namespace

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
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

bool GroupWitness::HasSeen(const siginfo_t& signal) {
  if (pid_ < 0) return false;
  do {
    const timespec now = RealTime();
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

}  // namespace leakgate
