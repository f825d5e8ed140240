// One image of a traced process, and the thread that judges its windows while the process waits.
// If the process executes another program, that becomes another JudgedProcess.
//
//   constructed  the region exists; the judge's thread waits for questions
//   (running)    the agent asks; each answer is kept as that window's result
//   Finish       the process has ended; what it left is judged, too
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "runner/host/traced_image.h"
#include "runner/judge/window_judge.h"
#include "runner/report/causes.h"
#include "runner/result/run_result.h"
#include "runner/run/run_extensions.h"

namespace leakgate {

// How an image is judged. All that it refers to must outlive the JudgedProcess.
struct ImageJudging {
  const JudgeSurroundings& surroundings;
  std::mutex& mutex;                   // locked while a window is judged: symbols are shared
  MakeAnswerer answer_more = nullptr;  // what a profiler would answer
  std::vector<std::shared_ptr<TestObserver>> observers{};
  const ChildProcess* child = nullptr;  // if null, the image is of the program under test
};

class JudgedProcess {
 public:
  JudgedProcess(std::unique_ptr<RegionFile> region, const ImageJudging& judging);
  ~JudgedProcess() { image_.StopAnswering(); }
  JudgedProcess(const JudgedProcess&) = delete;
  JudgedProcess& operator=(const JudgedProcess&) = delete;

  const RegionReader& region() const { return image_.region(); }
  int region_fd() const { return image_.region_fd(); }
  const UniqueFd& shared_memory() { return image_.region_file().fd(); }

  // Notes that the process executed another program in its place. REQUIRES: before Finish.
  void NoteExecuted() { judge_.NoteExecuted(); }

  // For a process without an agent, which asks nothing: judges what is lost while `thread` of it is
  // held before its end.
  void EndProcess(int thread);

  // Asks nothing more of the process, which lives on when the run ends. Its questions are answered
  // at once. Any thread may call it.
  void LetGo();

  // Returns the results of all windows in the order of their begins. REQUIRES: the process has
  // ended.
  [[nodiscard]] std::vector<WindowResult> Finish();

  const std::string& path() const { return image_.program().path; }
  // Returns its status and its region, for commands that ask. Any thread may call it.
  [[nodiscard]] ProcessRegion Describe(ImageLife life) const { return image_.Describe(life); }
  [[nodiscard]] bool HasEnded() const { return image_.HasEnded(); }

  // How many of the tests judged so far are over budget. Any thread may call it.
  std::int64_t over_budget_tests() const { return over_budget_.load(std::memory_order_relaxed); }

  // Returns whether GoogleTest has run to the end of an iteration, of however many tests. REQUIRES:
  // Finish.
  [[nodiscard]] bool has_ended_iteration() const { return has_ended_iteration_; }

  // Says why a question could not be answered; empty if all were answered. REQUIRES: Finish.
  const std::string& failure() const { return failure_; }

  // The time spent judging.
  std::chrono::nanoseconds judged() const { return judged_; }

 private:
  void Answer(Mailbox& mailbox);
  void AnswerQuestion(Mailbox& mailbox);
  std::uint32_t Questions() const;
  void JudgeWindow(Mailbox& mailbox);
  void CountOverBudget();
  WindowResult ResultInTime(const WindowCopy& window);
  WindowResult ResultOf(const WindowCopy& window);
  void NoteUnanswered();

  TracedImage image_;
  WindowJudge judge_;
  std::mutex& judging_;
  const GateMode mode_;
  ReportedCauses reported_;
  const std::vector<std::shared_ptr<TestObserver>> observers_;
  WindowResults results_;                // of windows judged while the process waited
  int judged_at_end_ = 0;                // how many windows
  std::set<std::uint32_t> out_of_time_;  // windows that were being judged when the time was up
  std::uint32_t unanswered_window_ = 0;  // its verdict was asked for when the process was killed
  std::atomic<std::int64_t> over_budget_{0};
  std::atomic<bool> is_let_go_{false};
  std::chrono::nanoseconds judged_{};
  bool has_ended_iteration_ = false;
  std::string failure_;
};

// The images of the program under test: one JudgedProcess for each program that its PID executes,
// in the order of the execs. Images of other processes are judged as they are, and by turns with
// them.
//
// RegionFor and TraceChild are called on the control server's thread, the rest on the main thread
// unless a comment says otherwise.
class Generations {
 public:
  // `boundaries` is the source of the tests' boundaries; stacks are cut at `stack_depth`.
  // `extensions` must outlive this object.
  Generations(const JudgeSurroundings& surroundings, const RunExtensions& extensions,
              BoundarySource boundaries, std::uint32_t stack_depth)
      : surroundings_(surroundings),
        extensions_(extensions),
        boundaries_(boundaries),
        stack_depth_(stack_depth) {}

  // From now on `pid` is given a region.
  void Enable(int pid) { enabled_pid_.store(pid, std::memory_order_release); }

  // Creates a region for the enabled PID, which has just executed a program, and returns its
  // descriptor. Returns -1 for any other PID.
  [[nodiscard]] int RegionFor(int pid);

  // Traces another process, `owner.pid`, into a region of its own. `owner` needs to tell nothing
  // that is the same for all processes of the run. `child` must outlive what is returned.
  [[nodiscard]] Expected<std::unique_ptr<JudgedProcess>> TraceChild(RegionOwner owner,
                                                                    const ChildProcess& child) {
    return Trace(owner, &child);
  }

  // REQUIRES: the control server has stopped.
  const std::vector<std::unique_ptr<JudgedProcess>>& processes() const { return processes_; }
  // Says for each image that could not be traced why.
  const std::vector<std::string>& errors() const { return errors_; }

  // Returns the newest image while the program runs; nullptr if there is none yet. Any thread.
  const JudgedProcess* latest() const { return latest_.load(std::memory_order_acquire); }

  int pid() const { return enabled_pid_.load(std::memory_order_acquire); }
  // The path of the last image. Called on the control server's thread.
  [[nodiscard]] std::string image() const;
  // These return copies of windows of the last image. Called on the control server's thread.
  [[nodiscard]] WindowCopy CurrentWindow() const;
  [[nodiscard]] WindowCopy Window(std::uint32_t id) const;
  [[nodiscard]] std::uint32_t WindowCount() const;

 private:
  [[nodiscard]] Expected<int> StartNext(int pid);
  [[nodiscard]] Expected<std::unique_ptr<JudgedProcess>> Trace(RegionOwner owner,
                                                               const ChildProcess* child);
  [[nodiscard]] EventRequest EventsAsked() const;

  const JudgeSurroundings& surroundings_;
  const RunExtensions& extensions_;
  const BoundarySource boundaries_;
  const std::uint32_t stack_depth_;
  std::atomic<int> enabled_pid_{0};
  std::mutex judging_;  // protects what the surroundings refer to
  std::vector<std::unique_ptr<JudgedProcess>> processes_;
  std::atomic<const JudgedProcess*> latest_{nullptr};
  std::vector<std::string> errors_;
};

// Returns the test that was running in the last image when it ended; empty if none was.
[[nodiscard]] std::string RunningTest(const Generations& generations);

}  // namespace leakgate
