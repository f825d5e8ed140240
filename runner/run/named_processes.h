// The child processes that budget files name: each is traced into a region of its own,
// from its first instruction, and judged as one window once it has ended.
//
// Two sources report a child: its own agent, which asks to be traced (OnHello), and the agent of
// the process that starts it, which says what is executed (OnExec). Only the second reports a child
// in which no agent starts. The two reports are matched by PID and image:
//
//   fork, exec     OnExec (by the child itself), then OnHello
//   posix_spawn    OnExec (by the parent) and OnHello, in either order
//   system, popen  OnHello alone: the C library does not call what the agent interposes
//   no agent       OnExec alone: it could not be traced, and the run is inconclusive
//
// OnHello and OnExec are called on the control server's thread, the rest on the main thread unless
// a comment says otherwise.
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
  // `program` is the program under test. Both references must outlive this object.
  NamedProcesses(const JudgeSurroundings& surroundings, Generations& program)
      : around_(surroundings), program_(program) {}

  // Answers the program under test, too.
  [[nodiscard]] HelloReply OnHello(int pid);
  void OnExec(const ReportedExec& told);

  // Waits until all children have ended, but for `patience` at most.
  void AwaitEnds(std::chrono::milliseconds patience);

  // Judges what is left. Adds the windows, in the order of the tests that started them, and the
  // counts of their tracing. This and Doubts REQUIRE that the control server has stopped.
  void Conclude(RunResult& result);

  // Returns a line for each child that could not be judged; equal lines are merged.
  [[nodiscard]] std::vector<std::string> Doubts() const;

  // Adds the processes that have not been judged yet. Any thread may call it.
  void AddProcesses(std::vector<ProcessRegion>& processes) const;

  // Returns the file names of the children that were started, traced or not.
  [[nodiscard]] std::set<std::string> Images() const;

 private:
  struct Start {
    int pid = 0;
    std::string path;  // the image's
    std::uint32_t window = 0;
    ChildProcess child;
    bool is_noted = false;   // its starter has reported it
    bool has_asked = false;  // it has asked to be traced
    bool leaves_agent = false;
    bool is_replaced = false;                // another image of the PID has asked
    std::string problem;                     // why it was not traced, if it has asked
    std::unique_ptr<JudgedProcess> process;  // null once it is judged
    std::vector<WindowResult> windows;       // filled when it is judged
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
  mutable std::mutex mutex_;  // protects all that follows
  std::vector<std::unique_ptr<Start>> starts_;
  std::map<int, std::uint32_t> windows_;  // of the program under test, by the child's PID
  TracingResult tracing_;
  std::chrono::nanoseconds judged_{};
};

}  // namespace leakgate
