#include "runner/attach/linux/exec_watchdog.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/fanotify.h>
#include <time.h>
#include <unistd.h>

#include "runner/process/linux/worker_factory.h"
#include "runner/process/proc_files.h"

namespace leakgate {
namespace {

constexpr long kPauseNs = 20'000'000;
// So many pauses a holder may make no step before everything is allowed: one that is stopped or
// waits, and one that is ready to run.
constexpr int kStillPauses = 2;
constexpr int kUnrunPauses = 50;
constexpr int kLastPauses = 50;  // after so many more, the holder is ended

// The watchdog closes descriptors that come with questions, so their numbers are free for the next
// ones.
class Watchdog {
 public:
  Watchdog(const WatchdogSetup& setup, pid_t holder) : setup_(setup), holder_(holder) {}

  [[noreturn]] void Run() {
    for (;;) {
      const timespec pause{0, kPauseNs};
      ::nanosleep(&pause, nullptr);
      const std::uint64_t steps = setup_.progress.steps.load(std::memory_order_relaxed);
      const char state = StateOfHolder();
      const bool moves = steps != last_steps_ || !IsNeeded(steps, state);
      last_steps_ = steps;
      still_ = moves ? 0 : still_ + 1;
      if (still_ >= (state == 'R' ? kUnrunPauses : kStillPauses)) AllowAll();
      if (still_ == kUnrunPauses + kLastPauses) EndHolder();
    }
  }

 private:
  // "123 (name) S ...": a name may hold anything.
  char StateOfHolder() const {
    const std::string stat = ReadTaskFile(holder_, holder_, "stat");
    const std::size_t name_end = stat.rfind(')');
    return name_end != std::string::npos && name_end + 2 < stat.size() ? stat[name_end + 2] : 'X';
  }

  bool IsNeeded(std::uint64_t steps, char state) const {
    if (steps % 2 != 0 || state == 'T' || state == 't') return true;
    pollfd asked{setup_.asked.get(), POLLIN, 0};
    return ::poll(&asked, 1, 0) > 0;
  }

  // The kernel identifies a question by the number of its descriptor in the process that has read
  // it.
  void AllowAll() const {
    for (int file = 3; file < setup_.most_files; ++file) {
      while (Allow(file)) {
      }
    }
    alignas(fanotify_event_metadata) char events[sizeof(fanotify_event_metadata) * 16];
    for (ssize_t bytes = 0; (bytes = ::read(setup_.asked.get(), events, sizeof(events))) > 0;) {
      auto left = static_cast<std::size_t>(bytes);
      for (auto* event = reinterpret_cast<fanotify_event_metadata*>(events);
           FAN_EVENT_OK(event, left); event = FAN_EVENT_NEXT(event, left)) {
        if (event->fd < 0) continue;
        (void)Allow(event->fd);
        ::close(event->fd);
      }
    }
  }

  bool Allow(int file) const {
    const fanotify_response response{file, FAN_ALLOW};
    if (::write(setup_.asked.get(), &response, sizeof(response)) <= 0) return false;
    setup_.progress.allowed.fetch_add(1, std::memory_order_relaxed);
    return true;
  }

  // Once the marks are removed, no further program asks, even if the holder cannot be ended yet.
  void EndHolder() const {
    ::fanotify_mark(setup_.asked.get(), FAN_MARK_FLUSH | FAN_MARK_FILESYSTEM, 0, AT_FDCWD, "/");
    ::fanotify_mark(setup_.asked.get(), FAN_MARK_FLUSH, 0, AT_FDCWD, "/");
    ::kill(holder_, SIGKILL);
  }

  const WatchdogSetup& setup_;
  const pid_t holder_;
  std::uint64_t last_steps_ = 0;
  int still_ = 0;
};

}  // namespace

Expected<void> ForkWatchdog(const WatchdogSetup& setup) {
  const pid_t holder = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) {
    return InconclusiveError(
        fmt::format("cannot start the watchdog of held programs: {}", ErrnoText()));
  }
  if (pid > 0) return {};
  ResetForkedProcess(kWatchdogName, setup.asked, holder);
  Watchdog(setup, holder).Run();
}

}  // namespace leakgate
