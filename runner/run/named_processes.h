// The child processes that budget files name: each is traced into a region of its own,
// from its first instruction, and judged as one window once it has ended.
//
// Two sources tell of a child: its own agent, which asks to be traced (OnHello), and the
// agent of the process that starts it, which says what it executes (OnExec). Only the
// second knows of a child in which no agent starts. They meet by PID and image:
//
//   fork, exec     OnExec (by the child itself), then OnHello
//   posix_spawn    OnExec (by the parent) and OnHello, in either order
//   system, popen  OnHello alone: the C library does not call what the agent sees
//   no agent       OnExec alone: it could not be traced, and the run is inconclusive
//
// OnHello and OnExec are called on the control server's thread, the rest on the main one
// unless it says otherwise.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "runner/host/control_server.h"
#include "runner/result/run_result.h"
#include "runner/run/judged_process.h"

namespace leakgate {

class NamedProcesses {
 public:
  // Both outlive it; `program` is the one under test.
  NamedProcesses(const JudgeSurroundings& surroundings, Generations& program,
                 std::uint32_t stack_depth)
      : around_(surroundings), program_(program), stack_depth_(stack_depth) {}

  // Of the program under test, too.
  [[nodiscard]] HelloReply OnHello(int pid);
  void OnExec(const ToldExec& told);

  // Gives the children that are about to end the time to.
  void AwaitEnds(std::chrono::milliseconds patience);

  // Judges what is left; adds the windows, in the order of the tests that started them, and
  // what the tracing of them amounts to. REQUIRES, as the next: the control server has stopped.
  void Conclude(RunResult& result);

  // A line for each child that could not be judged, alike ones together.
  [[nodiscard]] std::vector<std::string> Doubts() const;

  // Adds those that are not judged yet. Any thread.
  void AddProcesses(std::vector<RunProcess>& processes) const;

  // The file names of those that were started, traced or not.
  [[nodiscard]] std::set<std::string> Images() const;

 private:
  struct Start {
    int pid = 0;
    std::string path;  // of the image
    std::uint32_t window = 0;
    ChildProcess child;
    bool is_noted = false;   // by who started it
    bool has_asked = false;  // to be traced
    bool leaves_agent = false;
    bool is_replaced = false;                // another image of the PID has asked
    std::string problem;                     // why it was not traced; empty: it was, or see above
    std::unique_ptr<JudgedProcess> process;  // until it is judged
    std::vector<WindowResult> windows;       // once it is
  };

  void SetWindow(Start& start, std::uint32_t window) const;
  Start& FindOrAdd(int pid, const std::string& path, bool Start::*told, std::uint32_t window);
  void Forget(int pid);
  Start* Running(int pid) const;
  void Trace(Start& start);
  void Judge(Start& start);
  void JudgeEnded(std::size_t most_left);
  static bool IsOver(const Start& start);

  const JudgeSurroundings& around_;
  Generations& program_;
  const std::uint32_t stack_depth_;
  mutable std::mutex mutex_;  // of all that follows
  std::vector<std::unique_ptr<Start>> starts_;
  std::map<int, std::uint32_t> windows_;  // of the program under test, by PID
  TracingResult tracing_;
  std::chrono::nanoseconds judged_{};
};

}  // namespace leakgate
