// One image of a traced process, and the thread that judges its windows while the process waits.
// A PID that executes another program is traced anew, as another JudgedProcess.
//
//   constructed  the region exists; the judge's thread waits for questions
//   (running)    the agent asks; each answer is kept as that window's result
//   Finish       the process is gone: what it left is judged, too
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runner/host/mailbox_server.h"
#include "runner/host/requested_snapshot.h"
#include "runner/host/traced_image.h"
#include "runner/judge/window_judge.h"
#include "runner/judge/window_meter.h"
#include "runner/report/run_result.h"

namespace leakgate {

class TestSnapshots;

// How an image is judged; all outlive its JudgedProcess.
struct ImageJudging {
  const JudgeSurroundings& surroundings;
  std::mutex& mutex;                    // is locked while a window is judged: symbols are shared
  TestSnapshots* snapshots = nullptr;   // none: none are taken
  const ChildProcess* child = nullptr;  // none: the image is of the program under test
};

class JudgedProcess {
 public:
  JudgedProcess(std::unique_ptr<RegionFile> region, const ImageJudging& judging);
  JudgedProcess(const JudgedProcess&) = delete;
  JudgedProcess& operator=(const JudgedProcess&) = delete;

  const RegionReader& region() const { return image_.region(); }
  int region_fd() const { return image_.region_fd(); }

  // Returns every window's result, in order of opening. REQUIRES: the process has gone.
  [[nodiscard]] std::vector<WindowResult> Finish();

  // As others may ask for it. Any thread.
  [[nodiscard]] RunProcess Describe() const;
  [[nodiscard]] bool HasEnded() const { return image_.HasEnded(); }

  // Tests that are over budget, as far as they have been judged. Any thread.
  std::int64_t over_budget_tests() const { return over_budget_.load(std::memory_order_relaxed); }

  // Why a question was not answered, in words; empty: each was. REQUIRES: Finish.
  const std::string& failure() const { return failure_; }

  // Time spent judging.
  std::chrono::nanoseconds judged() const { return judged_; }

 private:
  void Answer(Mailbox& mailbox);
  void AnswerQuestion(Mailbox& mailbox);
  std::uint32_t Questions() const;
  void JudgeWindow(Mailbox& mailbox);
  void CountOverBudget();
  WindowResult ResultOf(const WindowCopy& window);
  void NoteUnanswered();

  TracedImage image_;
  WindowJudge judge_;
  WindowMeter meter_;
  RequestedSnapshot requested_snapshots_;
  std::mutex& judging_;
  const GateMode mode_;
  TestSnapshots* const test_snapshots_;            // may be none
  std::map<std::uint32_t, WindowResult> results_;  // of windows judged while the process waited
  int judged_at_end_ = 0;                          // windows
  std::uint32_t unanswered_window_ = 0;  // whose verdict the process asked for as it was killed
  std::atomic<std::int64_t> over_budget_{0};
  std::chrono::nanoseconds judged_{};
  std::string failure_;
  MailboxServer server_;  // last: it uses the others
};

}  // namespace leakgate
