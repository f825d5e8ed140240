// From the process's first allocation, or the agent's constructor, whichever
// comes first, to tracing:
//
//   1 resolve the host's functions            (the bootstrap heap serves meanwhile)
//   2 ask the runner, by the control socket   no runner, not enabled: stay off for good
//   3 map the region, start the tables
//   4 switch on, trace a trial allocation     the canary: not seen, not tracing
//   5 tell the runner through the region
#pragma once

#include <atomic>

#include "plugin/agent/on_switch.h"

namespace leakgate::agent {

// How an interposed function is to go on.
enum class Route {
  kTrace,      // record and forward
  kForward,    // tracing is off: just forward
  kBootstrap,  // the host's functions are not known yet
};

enum class Stage : std::uint32_t { kNotStarted, kStarting, kStarted };
extern LEAKGATE_INTERNAL std::atomic<Stage> g_stage;

// Starts, at the first call.
Route RouteBeforeStart();

inline bool IsOff() {
  return !IsTracing() && g_stage.load(std::memory_order_acquire) == Stage::kStarted;
}

inline Route CurrentRoute() {
  if (IsTracing()) return Route::kTrace;
  return IsOff() ? Route::kForward : RouteBeforeStart();
}

}  // namespace leakgate::agent
