// Shows the progress of a run or a merge, from a thread of its own. When it is destroyed,
// nothing of it is left on the terminal.
//
//   standard error is    auto                                   bar            lines
//   a terminal           a bar, once it takes long; but none    a bar          lines
//                        while the program writes to the same
//   a file, a pipe       lines, each 30 seconds                 lines          lines
//
// On a terminal that has the program's standard output GoogleTest shows how far it is; a row
// taken out of what scrolls there would shrink the screen under a program that thinks it has
// it to itself. Where only standard error is shared (`leakgate run -- BINARY > log`), what the
// program writes there scrolls above the bar (status_row.h).
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "runner/base/status_row.h"
#include "runner/cli/terminal.h"
#include "runner/run/run_request.h"

namespace leakgate {

class ProgressDisplay {
 public:
  // `use` tells whether a program writes to the terminal, too.
  ProgressDisplay(ProgressMode mode, TerminalUse use);
  ~ProgressDisplay();
  ProgressDisplay(const ProgressDisplay&) = delete;
  ProgressDisplay& operator=(const ProgressDisplay&) = delete;

  // Returns where the run or merge writes its progress, or nullptr if nobody would see it.
  [[nodiscard]] RunProgress* progress() { return thread_.joinable() ? &progress_ : nullptr; }

 private:
  using Clock = std::chrono::steady_clock;

  void Start();
  void Run();
  void Tick();
  void ShowBar(const Progress& progress, std::chrono::seconds elapsed);
  void Pause();
  void Resume();

  RunProgress progress_;
  const Clock::time_point begin_ = Clock::now();
  std::unique_ptr<StatusRow> row_;  // nullptr: lines are written
  bool hides_program_ = false;      // while the program writes
  std::mutex mutex_;                // of the rest
  std::condition_variable wake_;
  bool is_ending_ = false;
  bool is_paused_ = false;
  std::thread thread_;
};

// Calls Run of run/run_session.h and shows its progress.
[[nodiscard]] Expected<RunResult> RunShowingProgress(RunRequest& request, ProgressMode mode);

}  // namespace leakgate
