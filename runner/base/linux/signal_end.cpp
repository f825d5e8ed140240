#include "runner/base/signal_end.h"

#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstring>
#include <utility>

#include "runner/base/linux/end_signals.h"

namespace leakgate {
namespace {

constexpr int kSignals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGALRM};
constexpr unsigned kDeferralSeconds = 10;

struct FileSlot {
  std::atomic<bool> is_taken{false};
  std::atomic<bool> is_set{false};  // stored (release) after the members below are written
  int directory = -1;
  char name[NAME_MAX + 1] = {};
};
FileSlot g_partial_files[8];

char g_terminal_text[128];
std::atomic<std::size_t> g_terminal_bytes{0};
std::atomic<int> g_terminal{-1};

std::atomic<bool> g_is_deferred{false};
std::atomic<int> g_noted{0};  // the number of the first signal; 0: none has arrived

void EndProcessBy(int signal) {
  RemovePartialFiles();
  struct sigaction by_default {};
  by_default.sa_handler = SIG_DFL;
  ::sigaction(signal, &by_default, nullptr);
  sigset_t signals;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, signal);
  ::pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  ::raise(signal);
  ::_exit(128 + signal);  // for the case that a filter forbids the call
}

class AllSignalsBlocked {
 public:
  AllSignalsBlocked() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~AllSignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  AllSignalsBlocked(const AllSignalsBlocked&) = delete;
  AllSignalsBlocked& operator=(const AllSignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

void OnEndSignal(int signal) {
  int noted = 0;
  const bool may_wait = g_is_deferred.load() && signal != SIGALRM;
  if (may_wait && g_noted.compare_exchange_strong(noted, signal)) {
    ::alarm(kDeferralSeconds);
    return;
  }
  noted = g_noted.load();
  EndProcessBy(noted != 0 ? noted : signal);
}

}  // namespace

void RemovePartialFiles() {
  for (FileSlot& slot : g_partial_files) {
    if (slot.is_set.load(std::memory_order_acquire)) ::unlinkat(slot.directory, slot.name, 0);
  }
  const std::size_t bytes = g_terminal_bytes.load(std::memory_order_acquire);
  if (bytes != 0) (void)!::write(g_terminal.load(), g_terminal_text, bytes);
}

void EndProcessSaying(std::string_view line, ExitCode exit_code) {
  RemovePartialFiles();
  pollfd out{STDERR_FILENO, POLLOUT, 0};
  if (::poll(&out, 1, 0) == 1) (void)!::write(STDERR_FILENO, line.data(), line.size());
  ::_exit(static_cast<int>(exit_code));
}

std::thread StartThreadWithoutSignals(std::function<void()> run) {
  const AllSignalsBlocked blocked;
  return std::thread(std::move(run));
}

sigset_t EndSignals() {
  sigset_t signals;
  ::sigemptyset(&signals);
  for (const int signal : kSignals) ::sigaddset(&signals, signal);
  return signals;
}

void HandleEndSignals() {
  for (const int signal : kSignals) {
    struct sigaction inherited {};
    if (::sigaction(signal, nullptr, &inherited) != 0 || inherited.sa_handler == SIG_IGN) continue;
    struct sigaction own {};
    own.sa_handler = OnEndSignal;
    own.sa_flags = SA_RESTART;
    ::sigaction(signal, &own, nullptr);
  }
}

PartialFile::PartialFile(int directory, std::string_view name) : slot_(nullptr) {
  if (name.size() > NAME_MAX) return;
  for (FileSlot& slot : g_partial_files) {
    if (slot.is_taken.exchange(true)) continue;
    slot.directory = directory;
    std::memcpy(slot.name, name.data(), name.size());
    slot.name[name.size()] = '\0';
    slot.is_set.store(true, std::memory_order_release);
    slot_ = &slot;
    return;
  }
}

PartialFile::~PartialFile() {
  if (slot_ == nullptr) return;
  auto& slot = *static_cast<FileSlot*>(slot_);
  slot.is_set.store(false, std::memory_order_release);
  slot.is_taken.store(false);
}

void RestoreTerminalAtSignal(int fd, std::string_view text) {
  g_terminal_bytes.store(0, std::memory_order_release);
  if (text.size() > sizeof(g_terminal_text)) return;
  std::memcpy(g_terminal_text, text.data(), text.size());
  g_terminal.store(fd);
  g_terminal_bytes.store(text.size(), std::memory_order_release);
}

EndSignalDeferral::EndSignalDeferral() {
  g_noted.store(0);
  g_is_deferred.store(true);
}

EndSignalDeferral::~EndSignalDeferral() {
  g_is_deferred.store(false);
  const int noted = g_noted.exchange(0);
  if (noted == 0) return;
  ::alarm(0);
  if (!is_reported_) EndProcessBy(noted);
}

bool EndSignalDeferral::WasAskedToEnd() {
  is_reported_ = is_reported_ || g_noted.load() != 0;
  return is_reported_;
}

}  // namespace leakgate
