// The processes besides the program in which its tests may run: its forked children, and those in
// which it executes itself, or another test binary, for a batch of tests. Each is traced into a
// region of its own.
//
//   forked      asks at its first allocation, or as its first test begins
//               (plugin/agent/start/forked_child.cpp)
//   executed    its agent asks as it starts; only test binaries that a test binary starts, and no
//               test of it, are traced
//
// Tests that ran there are judged as the program's own are. What a forked child left behind
// otherwise is a row of its own, if it ended by itself; of an executed one, if tests ran in it.
//
// OnFork and OnExecuted are called on the control server's thread, the rest on the main thread
// unless a comment says otherwise.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runner/host/control_server.h"
#include "runner/process/image_inspection.h"
#include "runner/result/run_result.h"
#include "runner/run/judged_process.h"

namespace leakgate {

class FurtherProcesses {
 public:
  // `program` is the program under test. Both references must outlive this object.
  FurtherProcesses(const JudgeSurroundings& surroundings, Generations& program)
      : around_(surroundings), program_(program) {}

  // Answers a forked child of a process that is traced; `window` is the program's window in which
  // it was forked, if that is known.
  [[nodiscard]] HelloReply OnFork(int pid, std::uint32_t window);
  // Answers a process that executes a program, and is not the program under test. Traces it if
  // both are test binaries, and no test runs that has started it.
  // Where children are not traced, notes that nobody gates its tests.
  [[nodiscard]] HelloReply OnExecuted(const ControlPeer& peer);

  // Waits until those in which tests ran have ended, but for `patience` at most.
  void AwaitEnds(std::chrono::milliseconds patience);

  // Judges what is left. Adds the windows, in the order in which the processes have begun, and the
  // counts of their tracing. This and Doubts REQUIRE that the control server has stopped.
  void Conclude(RunResult& result);

  // Returns a line for each process whose tests could not all be judged; equal lines are merged.
  [[nodiscard]] std::vector<std::string> Doubts() const;

  // Adds the processes that have not been judged yet. Any thread may call it.
  void AddProcesses(std::vector<ProcessRegion>& processes) const;

 private:
  enum class Kind { kForked, kExecuted };
  struct Process {
    Kind kind = Kind::kForked;
    ChildProcess child;
    bool is_replaced = false;               // another image of the PID has asked
    std::string problem;                    // why its tests could not be judged
    std::unique_ptr<JudgedProcess> judged;  // null once its windows are taken
    std::vector<WindowResult> windows;      // filled then
  };

  [[nodiscard]] BoundarySource BoundariesOf(const std::string& path);
  HelloReply NoteUntraced(const std::string& path);
  HelloReply Trace(Kind kind, int pid, const std::string& path, std::uint32_t window);
  [[nodiscard]] bool IsStartedByTest(const ControlPeer& peer) const;
  [[nodiscard]] bool HadTest(const BeginTimes& when) const;
  void NoteReplaced(int pid);
  [[nodiscard]] static bool RunsTests(const Process& process);
  [[nodiscard]] static bool IsOver(const Process& process);
  void Judge(Process& process);
  void TakeWindows(Process& process);
  void JudgeEnded(std::size_t most_left);

  const JudgeSurroundings& around_;
  Generations& program_;
  mutable std::mutex mutex_;  // protects all that follows
  std::vector<std::unique_ptr<Process>> processes_;
  std::map<std::string, LinkedFramework> frameworks_;  // by path
  TracingResult tracing_;
  std::chrono::nanoseconds judged_{};
};

}  // namespace leakgate
