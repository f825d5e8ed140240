// From the process's first allocation, or the agent's constructor, whichever
// comes first, to tracing:
//
//   1 resolve the host's functions            (the bootstrap heap serves meanwhile)
//   2 ask the runner, by the control socket   without a runner, or if it says no: stay off
//   3 map the region, start the tables
//   4 switch on, trace a trial allocation     if it is not seen, nothing is traced
//   5 tell the runner through the region
//
// A process that stays off, or that was running before the agent was loaded, may be traced later on
// (common/attach_point.h).
#pragma once

#include <atomic>

#include "plugin/agent/host/on_switch.h"

namespace leakgate::agent {

// How an interposed function is to go on.
enum class Route {
  kTrace,      // record and forward
  kForward,    // tracing is off: just forward
  kBootstrap,  // the host's functions are not known yet
};

// kUntracedCall: started, and CallOnSlowPath was asked for. A fork child, which has nothing
// recorded, comes by there. kForks: started, and fork children are to be traced (forked_child.cpp):
// the first allocation of one comes by. Release by who changes it, after what comes before; acquire
// by who asks.
enum class Stage : std::uint32_t { kNotStarted, kStarting, kStarted, kUntracedCall, kForks };
extern LEAKGATE_INTERNAL std::atomic<Stage> g_stage;

// Starts the agent, at the first call.
Route RouteBeforeStart();

// Has the next call that is not traced do what waits (CallOnSlowPath).
inline void RunSlowPathCallUntraced() {
  g_stage.store(Stage::kUntracedCall, std::memory_order_release);
}

// Does steps 3 to 5, also in a process that has been running without tracing. The region is the one
// behind `region_fd`, which is closed; its header says what came of it. REQUIRES: no thread
// records, or has recorded since tracing was disabled.
enum class TracingBegin { kWithTheProcess, kAttached, kForked };
void StartTracing(int region_fd, TracingBegin begin);

// Lets the runner see how far the agent has come. Defined in attach_point.cpp.
void NoteStarted();

// From now on fork children are traced: `control` names the runner's socket. These two are defined
// in forked_child.cpp.
void TraceForks(const char* control);
enum class ForkOccasion { kAllocation, kBoundary };
// Begins to trace this process if it is such a child. Returns whether it is traced now.
bool TraceIfForked(ForkOccasion occasion);

// Gives up the region after tracing has been disabled. REQUIRES: no thread records.
void ReleaseRegion();
// The same in a fork child of the process that was traced: it has not inherited the region.
void ForgetRegion();

inline bool IsOff() {
  return !IsTracing() && g_stage.load(std::memory_order_acquire) == Stage::kStarted;
}

// For calls that allocate. The first one begins what waits for it.
inline Route CurrentRoute() {
  if (IsTracing()) return Route::kTrace;
  return IsOff() ? Route::kForward : RouteBeforeStart();
}

// For all other calls: a fork child that only executes a program makes these alone.
inline Route RouteOfOtherCall() {
  if (IsTracing()) return Route::kTrace;
  return g_stage.load(std::memory_order_acquire) >= Stage::kStarted ? Route::kForward
                                                                    : RouteBeforeStart();
}

}  // namespace leakgate::agent
