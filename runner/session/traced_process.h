// One traced process image: its region, and the thread that judges windows
// while the process waits. A PID that executes another program is traced anew,
// as another TracedProcess.
//
//   Start        the region exists; the judge's thread waits for questions
//   (running)    the agent asks; each answer is kept as that window's result
//   Finish       the process is gone: what it left is judged too
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "runner/report/run_result.h"
#include "runner/session/code_calls.h"
#include "runner/session/linux/process_image.h"
#include "runner/session/linux/region_file.h"
#include "runner/session/mailbox_server.h"
#include "runner/session/run_processes.h"
#include "runner/session/window_judge.h"

namespace leakgate {

class TracedProcess {
 public:
  // `judging` is locked while a window is judged: symbols are shared. `child` as WindowJudge's.
  TracedProcess(std::unique_ptr<RegionFile> region, const JudgeSurroundings& surroundings,
                std::mutex& judging, const ChildProcess* child = nullptr);
  TracedProcess(const TracedProcess&) = delete;
  TracedProcess& operator=(const TracedProcess&) = delete;

  const RegionReader& region() const { return region_->reader(); }
  int region_fd() const { return region_->fd().get(); }

  // After the process has gone: every window's result, in order of opening.
  [[nodiscard]] std::vector<WindowResult> Finish();

  // As others may ask for it. Any thread.
  [[nodiscard]] RunProcess Describe() const;
  [[nodiscard]] bool HasEnded() const { return leakgate::HasEnded(end_); }

  // Tests that are over budget, as far as they have been judged. Any thread.
  std::int64_t over_budget_tests() const { return over_budget_.load(std::memory_order_relaxed); }

  // Why a question was not answered, in words; empty: each was. REQUIRES: Finish.
  const std::string& failure() const { return failure_; }

  // Time spent judging.
  std::chrono::nanoseconds judged() const { return judged_; }

 private:
  void Answer(Mailbox& mailbox);
  void AnswerWell(Mailbox& mailbox);
  void JudgeWindow(Mailbox& mailbox);
  void CountOverBudget();
  WindowResult ResultOf(const WindowCopy& window);
  void NoteUnanswered();

  std::unique_ptr<RegionFile> region_;
  const std::string image_;
  const std::vector<std::string> arguments_;
  const UniqueFd end_;  // readable at the process's end
  WindowJudge judge_;
  CodeCalls code_calls_;
  std::mutex& judging_;
  const GateMode mode_;
  TestSnapshots* const snapshots_;                 // none of a child that a budget file names
  std::map<std::uint32_t, WindowResult> results_;  // of windows judged while the process waited
  int judged_at_end_ = 0;                          // windows
  std::uint32_t unanswered_window_ = 0;  // whose verdict the process asked for as it was killed
  std::atomic<std::int64_t> over_budget_{0};
  std::chrono::nanoseconds judged_{};
  std::string failure_;
  MailboxServer server_;  // last: it uses the others
};

}  // namespace leakgate
