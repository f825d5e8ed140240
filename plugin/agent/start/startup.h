// From the process's first allocation, or the agent's constructor, whichever
// comes first, to tracing:
//
//   1 resolve the host's functions            (the bootstrap heap serves meanwhile)
//   2 ask the runner, by the control socket   without a runner, or if it says no: stay off
//   3 map the region, start the tables
//   4 switch on, trace a trial allocation     if it is not recorded, nothing is traced
//   5 report the result through the region
//
// A process that stays off, or that was running before the agent was loaded, may be traced later
// (common/attach_point.h).
#pragma once

#include <atomic>

#include "plugin/agent/host/on_switch.h"

namespace leakgate::agent {

// How an interposed function continues.
enum class Route {
  kTrace,      // record and forward
  kForward,    // tracing is off: just forward
  kBootstrap,  // the host's functions are not known yet
};

// kUntracedCall: started, and CallOnSlowPath has set a call that the next untraced allocation must
// run, as in a fork child, which records nothing. kForks: started, and fork children are to be
// traced (forked_child.cpp): their first allocation takes the slow path. Stored with release, after
// what comes before; loaded with acquire.
enum class Stage : std::uint32_t { kNotStarted, kStarting, kStarted, kUntracedCall, kForks };
extern LEAKGATE_INTERNAL std::atomic<Stage> g_stage;

// Starts the agent at the first call.
Route RouteBeforeStart();

// Makes the next call that is not traced run what CallOnSlowPath has set.
inline void RunSlowPathCallUntraced() {
  g_stage.store(Stage::kUntracedCall, std::memory_order_release);
}

// Does steps 3 to 5, also in a process that has been running without tracing. The region is the one
// of `region_fd`, which is closed; its header has the result. REQUIRES: no thread records, or has
// recorded since tracing was disabled.
enum class TracingBegin { kWithTheProcess, kAttached, kForked };
void StartTracing(int region_fd, TracingBegin begin);

// Shows the runner how far the agent has come. Defined in attach_point.cpp.
void NoteStarted();

// From now on fork children are traced: `control` names the runner's socket. These two are defined
// in forked_child.cpp.
void TraceForks(const char* control);
enum class ForkOccasion { kAllocation, kBoundary };
// Begins to trace this process if it is such a child. Returns whether it is traced now.
bool TraceIfForked(ForkOccasion occasion);

// Frees the region after tracing has been disabled. REQUIRES: no thread records.
void ReleaseRegion();
// Does the same in a fork child of the process that was traced: it has not inherited the region.
void ForgetRegion();

inline bool IsOff() {
  return !IsTracing() && g_stage.load(std::memory_order_acquire) == Stage::kStarted;
}

// For calls that allocate. The first one starts the agent, or runs the call that waits for it.
inline Route CurrentRoute() {
  if (IsTracing()) return Route::kTrace;
  return IsOff() ? Route::kForward : RouteBeforeStart();
}

// For all other calls. A fork child that only executes a program makes no others.
inline Route RouteOfOtherCall() {
  if (IsTracing()) return Route::kTrace;
  return g_stage.load(std::memory_order_acquire) >= Stage::kStarted ? Route::kForward
                                                                    : RouteBeforeStart();
}

}  // namespace leakgate::agent
