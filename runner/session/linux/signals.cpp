#include "runner/session/linux/signals.h"

#include <ctime>

namespace leakgate {
namespace {

constexpr int kTaken[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH};

// The kernel's own (the terminal's, an alarm's) have positive codes.
bool WasSentByProcess(const siginfo_t& info) { return info.si_code <= 0; }

}  // namespace

BlockedSignals::BlockedSignals() {
  ::sigemptyset(&blocked_);
  for (const int signal : kTaken) ::sigaddset(&blocked_, signal);
  ::pthread_sigmask(SIG_BLOCK, &blocked_, &original_);
}

BlockedSignals::~BlockedSignals() { ::pthread_sigmask(SIG_SETMASK, &original_, nullptr); }

void BlockedSignals::TakeOne(pid_t pid, std::chrono::milliseconds patience) const {
  const timespec timeout{patience.count() / 1000, patience.count() % 1000 * 1'000'000};
  siginfo_t info{};
  const int signal = ::sigtimedwait(&blocked_, &info, &timeout);
  if (signal > 0 && signal != SIGCHLD && WasSentByProcess(info)) ::kill(pid, signal);
}

}  // namespace leakgate
