// All processes that a run traces: the program under test, in each image that it executes; the
// children that budget files name; and further processes in which its tests run. Decides what a
// process is given that asks.
//
// OnHello and OnExec are called on the control server's thread, the rest on the main thread unless
// a comment says otherwise.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runner/host/control_server.h"
#include "runner/result/run_result.h"
#include "runner/run/further_processes.h"
#include "runner/run/judged_process.h"
#include "runner/run/named_processes.h"
#include "runner/run/untraced_tests.h"

namespace leakgate {

class TracedProcesses {
 public:
  // As Generations says. All references must outlive this object.
  TracedProcesses(const JudgeSurroundings& surroundings, const RunExtensions& extensions,
                  BoundarySource boundaries, std::uint32_t stack_depth)
      : program_(surroundings, extensions, boundaries, stack_depth),
        named_(surroundings, program_),
        further_(surroundings, program_) {}

  [[nodiscard]] HelloReply OnHello(const ControlPeer& peer);
  void OnExec(const ReportedExec& told);

  // Of a program without an agent: returns its region, and watches what it starts. Nothing of that
  // is traced. REQUIRES: there is no control server.
  [[nodiscard]] Expected<JudgedProcess*> BeginWithoutAgent(int pid);
  void OnStarted(const std::string& image) { untraced_tests_.NoteStarted(image); }

  Generations& program() { return program_; }
  const NamedProcesses& named() const { return named_; }

  // Returns the processes that have not been judged yet, the program first. Any thread may call it.
  [[nodiscard]] std::vector<ProcessRegion> Describe() const;

  // Waits a moment for child processes that are ending as the program ends.
  void AwaitEnds();

  // Judges what is left. Adds all windows, and the counts of tracing. This and Doubts REQUIRE that
  // the control server has stopped.
  void Conclude(RunResult& result);

  // Returns a line for each process whose tests could not all be judged.
  [[nodiscard]] std::vector<std::string> Doubts() const;

 private:
  Generations program_;
  NamedProcesses named_;
  FurtherProcesses further_;
  UntracedTests untraced_tests_;
  bool notifies_execs_ = false;  // used on the control server's thread alone
};

}  // namespace leakgate
