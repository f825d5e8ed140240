// Enables heap tracing in a process that runs already, and disables it again.
//
//   1 refuse a process that cannot be traced, with the reason and what to do
//   2 find a safe point: stop one thread of the process where it cannot hold a lock of the
//     allocator or of the dynamic linker
//   3 on that thread, as a signal handler would run, load the agent if the process does not
//     have it, and make the agent ask the control server for a region
//   4 restore everything, so that the thread continues as if nothing had happened
//
// If a process began with the agent, which was told to stay off, step 3 loads nothing. Other
// threads are not stopped.
//
// A process that a signal has stopped stays stopped, and is traced once it is continued. If it has
// not executed its first instruction yet, it will begin with the agent (linux/program_begin.h). If
// an enabled process executes another program, that is traced, too
// (plugin/agent/exec/exec_environment.h).
//
// Only one leakgate at a time works on a process. Others wait for it, five seconds at most, by a
// lock on the process's memory, which only those who may trace the process can take.
//
// Any thread of the runner may call these functions. A thread of its own does the work: when that
// ends, the kernel releases the process, whatever went wrong. WaitLock is held meanwhile. If the
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
  std::filesystem::path agent;  // the file to load if the process does not have the agent
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
  int tid = 0;                         // the thread that was used
  std::chrono::nanoseconds stopped{};  // how long that thread was stopped
  int redirected_calls = 0;  // how many addresses in modules' tables lead to the agent now
};

// Begins the tracing of the process. When this returns, the region says kTracing, and since when
// (attached_at_ns). Meanwhile the process asks the control server for the region; a program that
// has not begun does so when it begins. REQUIRES: the control server runs.
[[nodiscard]] Expected<Attachment> EnableRunning(const EnableRequest& request);

// Returns a line about a process that runs and that nobody traces, with what the user can do.
[[nodiscard]] std::string UntracedText(int pid);

// Ends the tracing of the process, which gives up its region. The agent stays in it, idle, and can
// be enabled again. Does nothing if the process is not traced.
[[nodiscard]] Expected<void> DisableRunning(int pid);

}  // namespace leakgate
