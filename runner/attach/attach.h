// Enables heap tracing in a process that runs already, and disables it again.
//
//   1 refuse what cannot be traced, with the reason and what to do
//   2 find a safe point: one thread of the process, stopped where no lock of the
//     allocator's or the dynamic linker's can be its own
//   3 on that thread, as a signal handler would run: load the agent if it is not there,
//     and have it ask the control server for a region
//   4 put everything back; the thread goes on as though nothing had happened
//
// A process that carries the agent already, told to stay off when it began, is enabled
// by steps 2 and 3 alone. Other threads are not stopped.
//
// One that a signal has stopped stays so: it goes on, traced, when whoever stopped it says
// so. If it has not executed its first instruction yet, it is given the agent to begin with
// (linux/program_begin.h). Where an enabled process executes another program, that is
// traced, too (plugin/agent/exec/exec_environment.h).
//
// Called on any thread of the runner's; the work is done on one of its own, which the
// kernel lets go of the process with, whatever goes wrong. Meanwhile WaitLock is held. If
// the runner is killed half way, the process's thread restores itself.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "runner/util/expected.h"

namespace leakgate {

struct EnableRequest {
  int pid = 0;
  std::string control;          // the name of a control server's that gives `pid` a region
  std::filesystem::path agent;  // to be loaded where it is not yet
};

// What carries the agent.
enum class AgentOrigin {
  kPreloaded,  // the process was started with it
  kLoaded,     // it was loaded into the running process, now or earlier
};

enum class TracingBegins {
  kNow,             // it is traced
  kWithTheProgram,  // it has not begun yet; it will be, from its first instruction on
};

struct Attachment {
  AgentOrigin origin = AgentOrigin::kPreloaded;
  TracingBegins begin = TracingBegins::kNow;
  int tid = 0;                         // of the thread that was used
  std::chrono::nanoseconds stopped{};  // how long it was kept from its own work
  int redirected_calls = 0;            // addresses in modules' tables that lead to the agent now
};

// Once it returns, the process is traced: the region says kTracing, and since when
// (attached_at_ns). The control server must be running, and is asked meanwhile; for a
// program that has not begun, when it does.
[[nodiscard]] Expected<Attachment> EnableRunning(const EnableRequest& request);

// The process is no longer traced, and gives up its region. The agent stays, idle; it can
// be enabled again. Where it is not traced, nothing is done.
[[nodiscard]] Expected<void> DisableRunning(int pid);

}  // namespace leakgate
