#include "runner/run/linux/signals.h"

#include <ctime>

#include "runner/base/signal_end.h"

namespace leakgate {
namespace {

constexpr int kOfFaults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};

}  // namespace

BlockedSignals::BlockedSignals() {
  ::sigfillset(&blocked_);
  for (const int signal : kOfFaults) ::sigdelset(&blocked_, signal);
  ::pthread_sigmask(SIG_BLOCK, &blocked_, &original_);
}

BlockedSignals::~BlockedSignals() { ::pthread_sigmask(SIG_SETMASK, &original_, nullptr); }

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

}  // namespace leakgate
