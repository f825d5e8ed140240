// Finds the agent, for leakgate's other headers. Users' code does not need this.
#ifndef LEAKGATE_MEASURING_AGENT_H_
#define LEAKGATE_MEASURING_AGENT_H_

#include <dlfcn.h>

#include <atomic>
#include <cstring>

#include "leakgate/agent.h"

namespace leakgate {
namespace internal {

inline const LeakgateAgent* FindMeasuringAgent() {
  void* const symbol = dlsym(RTLD_DEFAULT, LEAKGATE_AGENT_SYMBOL);
  if (symbol == nullptr) return nullptr;
  LeakgateAgentFunction find = nullptr;
  std::memcpy(&find, &symbol, sizeof(find));
  return find(LEAKGATE_AGENT_WITH_MEASURING);
}

// Returns null if this process is not traced, or if the agent is too old. The dynamic linker is
// asked until there is an agent, because tracing may begin while the process runs.
inline const LeakgateAgent* MeasuringAgent() {
  static std::atomic<const LeakgateAgent*> known{nullptr};
  const LeakgateAgent* agent = known.load(std::memory_order_acquire);
  if (agent == nullptr) {
    agent = FindMeasuringAgent();
    known.store(agent, std::memory_order_release);
  }
  return agent;
}

}  // namespace internal
}  // namespace leakgate

#endif  // LEAKGATE_MEASURING_AGENT_H_
