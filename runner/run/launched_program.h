// A program that is launched to be traced, from its launch to its end:
//
//   Launch        a control server listens; the program is stopped at exec, before its first
//                 instruction, with the agent and the server's name in its environment. One that
//                 the agent cannot trace is refused
//   (suspended)   the caller notes the PID: it is to be given a region
//   Resume        the program runs, and its agent asks the server
//   StopServing   no process is given a region any more
//
// Launch and Resume are called on one thread, which waits for the program, too.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "runner/base/expected.h"
#include "runner/host/control_server.h"
#include "runner/run/launcher.h"
#include "runner/run/run_server.h"

namespace leakgate {

// Which programs are refused before they run.
enum class Refused {
  kNone,          // the program has been inspected before
  kUntraceable,   // those that the agent cannot trace
  kWithoutTests,  // and those whose tests GoogleTest's stream of events cannot tell apart
};

// Returns an error if what the process executes is among the refused.
[[nodiscard]] Expected<void> RequireTraceable(const std::filesystem::path& program,
                                              const SuspendedProcess& process, Refused refused);

struct ProgramLaunch {
  LaunchRequest process;  // what tracing needs is added to its environment
  std::filesystem::path agent;
  Refused refused = Refused::kNone;
  // These are called on the control server's thread, for processes of this launch alone.
  std::function<HelloReply(const ControlPeer& peer)> on_hello;
  std::function<void(const ReportedExec& exec)> on_exec = nullptr;
};

class LaunchedProgram {
 public:
  [[nodiscard]] static Expected<std::unique_ptr<LaunchedProgram>> Launch(ProgramLaunch launch);

  int pid() const { return process_->pid(); }
  SuspendedProcess& process() { return *process_; }
  // The environment variable by which all are known that the program starts.
  const std::string& mark() const { return mark_; }

  // Lets the program run. If `processes` is set, commands of other shells may ask for them.
  [[nodiscard]] Expected<void> Resume(RunProcesses processes = nullptr);

  // Stops both servers. Returns why some process could not be traced; empty if all could.
  std::string StopServing();

 private:
  LaunchedProgram() = default;

  std::filesystem::path agent_;
  std::string failure_;  // written by the control server's thread
  std::shared_ptr<RunServer> command_server_;
  std::unique_ptr<ControlServer> server_;
  std::string mark_;
  std::unique_ptr<SuspendedProcess> process_;
};

}  // namespace leakgate
