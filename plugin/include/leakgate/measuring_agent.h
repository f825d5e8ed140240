// Finds the agent, for leakgate's other headers. Users' code does not need this.
#ifndef LEAKGATE_MEASURING_AGENT_H_
#define LEAKGATE_MEASURING_AGENT_H_

#include <atomic>

#include "leakgate/agent.h"
#include "leakgate/system.h"

namespace leakgate {
namespace internal {

// Returns null if this process is not traced, or if the agent is too old. The dynamic linker is
// asked until there is an agent, because tracing may begin while the process runs.
inline const LeakgateAgent* MeasuringAgent() {
  static std::atomic<const LeakgateAgent*> known{nullptr};
  const LeakgateAgent* agent = known.load(std::memory_order_acquire);
  if (agent == nullptr) {
    agent = FindAgent(LEAKGATE_AGENT_WITH_MEASURING);
    known.store(agent, std::memory_order_release);
  }
  return agent;
}

}  // namespace internal
}  // namespace leakgate

#endif  // LEAKGATE_MEASURING_AGENT_H_
