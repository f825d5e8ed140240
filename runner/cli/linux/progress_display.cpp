#include "runner/cli/progress_display.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include "runner/cli/terminal.h"
#include "runner/run/run_session.h"

namespace leakgate {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kBarPeriod(200);
constexpr milliseconds kLinePeriod(30'000);
// A run that is over sooner needs no bar.
constexpr milliseconds kPatience(1000);

bool CanShowRow() {
  const char* const type = std::getenv("TERM");
  const std::string_view name = type == nullptr ? "" : type;
  return ::isatty(STDERR_FILENO) != 0 && !name.empty() && name != "dumb";
}

bool IsSameTerminal(int one, int other) {
  struct stat first {};
  struct stat second {};
  return ::isatty(one) != 0 && ::isatty(other) != 0 && ::fstat(one, &first) == 0 &&
         ::fstat(other, &second) == 0 && first.st_rdev == second.st_rdev;
}

bool IsProgramsTurn(ProgressStage stage) {
  return stage == ProgressStage::kProgram || stage == ProgressStage::kTests;
}

// $LEAKGATE_PROGRESS_INTERVAL, in seconds.
milliseconds LinePeriod() {
  const char* const text = std::getenv("LEAKGATE_PROGRESS_INTERVAL");
  const std::string_view given = text == nullptr ? "" : text;
  double seconds = 0;
  const auto [rest, error] = std::from_chars(given.data(), given.data() + given.size(), seconds);
  const bool is_number = error == std::errc() && rest == given.data() + given.size();
  if (!is_number || !(seconds >= 0.01) || seconds > 1e6) return kLinePeriod;
  return milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

}  // namespace

ProgressDisplay::ProgressDisplay(ProgressMode mode, TerminalUse use) {
  if (mode == ProgressMode::kNone) return;
  if (mode != ProgressMode::kLines && CanShowRow()) {
    row_ = std::make_unique<StatusRow>(STDERR_FILENO, use);
    hides_program_ = mode == ProgressMode::kAuto && IsSameTerminal(STDOUT_FILENO, STDERR_FILENO);
  }
  progress_.pause = [this] { Pause(); };
  progress_.resume = [this] { Resume(); };
  Start();
}

// All signals are the main thread's. What the process lacks for a thread, it lacks for nothing
// that matters.
void ProgressDisplay::Start() {
  sigset_t all;
  sigset_t original;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &original);
  try {
    thread_ = std::thread([this] { Run(); });
  } catch (const std::system_error&) {
  }
  ::pthread_sigmask(SIG_SETMASK, &original, nullptr);
}

ProgressDisplay::~ProgressDisplay() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void ProgressDisplay::Run() {
  const milliseconds period = row_ ? kBarPeriod : LinePeriod();
  Clock::time_point next = begin_ + (row_ ? kPatience : period);
  std::unique_lock lock(mutex_);
  while (!wake_.wait_until(lock, next, [this] { return is_ending_; })) {
    if (!is_paused_) Tick();
    next = std::max(next + period, Clock::now());
  }
  row_.reset();
}

void ProgressDisplay::Tick() {
  const std::optional<Progress> progress = progress_.Now();
  const auto elapsed = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - begin_);
  if (row_) {
    const bool is_hidden = !progress || (hides_program_ && IsProgramsTurn(progress->stage));
    if (is_hidden) return row_->Hide();
    return ShowBar(*progress, elapsed);
  }
  if (!progress) return;
  const std::string line = ConsoleText(ProgressLine(*progress, elapsed) + '\n');
  (void)!::write(STDERR_FILENO, line.data(), line.size());  // at once: others write there, too
}

void ProgressDisplay::ShowBar(const Progress& progress, std::chrono::seconds elapsed) {
  const std::size_t columns = row_->Columns();
  if (columns != 0) row_->Show(ProgressBar(progress, elapsed, columns));
}

Expected<RunResult> RunShowingProgress(RunRequest& request, ProgressMode mode) {
  ProgressDisplay display(mode, TerminalUse::kShared);
  request.progress = display.progress();
  Expected<RunResult> result = Run(request);
  request.progress = nullptr;
  return result;
}

void ProgressDisplay::Pause() {
  const std::lock_guard lock(mutex_);
  is_paused_ = true;
  if (row_) row_->Hide();
}

void ProgressDisplay::Resume() {
  const std::lock_guard lock(mutex_);
  is_paused_ = false;
}

}  // namespace leakgate
