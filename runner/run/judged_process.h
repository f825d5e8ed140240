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
#include "runner/result/run_result.h"

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

// The images of the one PID that is enabled: one traced process for each
// program that it executes, in the order of its execs.
//
// RegionFor is called on the control server's thread; the rest on the main one.
// What is traced is read only once the server has stopped.

class Generations {
 public:
  // `snapshots` may be none. `boundaries` says where those of the tests are to come from,
  // `stack_depth` where stacks are to be cut.
  Generations(const JudgeSurroundings& surroundings, TestSnapshots* snapshots,
              BoundarySource boundaries, std::uint32_t stack_depth)
      : surroundings_(surroundings),
        snapshots_(snapshots),
        boundaries_(boundaries),
        stack_depth_(stack_depth) {}

  // From now on, and not before, `pid` is given a region.
  void Enable(int pid) { enabled_pid_.store(pid, std::memory_order_release); }

  // A fresh region's descriptor for the enabled PID, which has just executed a
  // program; -1 for any other.
  [[nodiscard]] int RegionFor(int pid);

  // REQUIRES: the control server has stopped.
  const std::vector<std::unique_ptr<JudgedProcess>>& processes() const { return processes_; }
  // Why an image could not be traced.
  const std::vector<std::string>& errors() const { return errors_; }

  // The newest, while the program runs; nullptr: none yet. Any thread.
  const JudgedProcess* latest() const { return latest_.load(std::memory_order_acquire); }

  int pid() const { return enabled_pid_.load(std::memory_order_acquire); }
  // The window that is current in the last image; its copy. Control server's thread.
  [[nodiscard]] WindowCopy CurrentWindow() const;
  [[nodiscard]] WindowCopy Window(std::uint32_t id) const;
  // To be locked while anything is judged.
  std::mutex& judging() { return judging_; }

 private:
  [[nodiscard]] Expected<int> StartNext(int pid);

  const JudgeSurroundings& surroundings_;
  TestSnapshots* const snapshots_;
  const BoundarySource boundaries_;
  const std::uint32_t stack_depth_;
  std::atomic<int> enabled_pid_{0};
  std::mutex judging_;  // of the surroundings
  std::vector<std::unique_ptr<JudgedProcess>> processes_;
  std::atomic<const JudgedProcess*> latest_{nullptr};
  std::vector<std::string> errors_;
};

// The test that was running in the last image when it ended; empty if none was.
[[nodiscard]] std::string RunningTest(const Generations& generations);

}  // namespace leakgate
