// Sets a mark in a recording (`leakgate record`), so that one can look at what happened from there
// on, or up to there. For C++14 and later. Nothing is to be linked but the dynamic linker's
// library, where dlsym is not the C library's own.
//
//   leakgate::Mark("loaded");
//   $ leakgate recording show a.recording --from mark:loaded
//
// Does nothing if nothing is recorded. Any thread may call it. Names are cut after 1,024 bytes.
#ifndef LEAKGATE_MARK_H_
#define LEAKGATE_MARK_H_

#include "leakgate/measuring_agent.h"

namespace leakgate {

inline void Mark(const char* name) {
  const LeakgateAgent* const agent = internal::MeasuringAgent();
  if (agent != nullptr && agent->version >= LEAKGATE_AGENT_WITH_MARKS) agent->mark(name);
}

}  // namespace leakgate

#endif  // LEAKGATE_MARK_H_
