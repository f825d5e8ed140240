// Enables heap tracing in a process that runs already, and disables it again.
//
//   1 refuse what cannot be traced, with the reason and what to do
//   2 find a safe point: one thread of the process, stopped where no lock of the
//     allocator's or the dynamic linker's can be its own
//   3 on that thread, as a signal handler would run: load the agent if it is not there,
//     and have it ask the control server for a region
//   4 put everything back; the thread goes on as though nothing had happened
//
// In a process that already carries the agent, which was told to stay off when the process began,
// the agent need not be loaded. Other threads are not stopped.
//
// A process that a signal has stopped stays stopped: it goes on, traced, when whoever stopped it
// says so. If it has not executed its first instruction yet, it is made to begin with the agent
// (linux/program_begin.h). Where an enabled process executes another program, that is traced, too
// (plugin/agent/exec/exec_environment.h).
//
// May be called on any thread of the runner's. The work is done on a thread of its own: when that
// ends, the kernel lets go of the process, whatever went wrong. WaitLock is held meanwhile. If the
// runner is killed half way, the process's thread restores itself.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "runner/base/expected.h"

namespace leakgate {

struct EnableRequest {
  int pid = 0;
  std::string control;          // the name of the control server that gives `pid` a region
  std::filesystem::path agent;  // to be loaded if it has not been
};

// How the agent has come into the process.
enum class AgentOrigin {
  kPreloaded,  // the process was started with it
  kLoaded,     // it was loaded into the running process, now or earlier
};

enum class TracingBegins {
  kNow,             // the process is traced
  kWithTheProgram,  // the program has not begun; it will be traced from its first instruction on
};

struct Attachment {
  AgentOrigin origin = AgentOrigin::kPreloaded;
  TracingBegins begin = TracingBegins::kNow;
  int tid = 0;                         // of the thread that was used
  std::chrono::nanoseconds stopped{};  // how long it was kept from its own work
  int redirected_calls = 0;            // addresses in modules' tables that lead to the agent now
};

// When this returns, the process is traced: the region says kTracing, and since when
// (attached_at_ns). The control server must be running. It is asked for the region meanwhile; by a
// program that has not begun, when it begins.
[[nodiscard]] Expected<Attachment> EnableRunning(const EnableRequest& request);

// Ends the tracing of the process, which gives up its region. The agent stays, idle, and can be
// enabled again. Does nothing if the process is not traced.
[[nodiscard]] Expected<void> DisableRunning(int pid);

}  // namespace leakgate
