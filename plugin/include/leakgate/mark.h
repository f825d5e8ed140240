// Sets a mark in a recording (`leakgate record`), so that you can show what happened from there on,
// or up to there. For C++14 and later. You need to link nothing, except the dynamic linker's
// library if dlsym is not in the C library.
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
