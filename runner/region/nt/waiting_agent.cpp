#include "runner/region/nt/waiting_agent.h"

#include <map>
#include <mutex>

namespace leakgate {
namespace {

std::mutex g_agents_mutex;
std::map<int, WaitingAgent>& AgentsByPid() {
  static std::map<int, WaitingAgent> agents;
  return agents;
}

}  // namespace

void NoteWaitingAgent(int pid, const WaitingAgent& agent) {
  const std::lock_guard lock(g_agents_mutex);
  AgentsByPid()[pid] = agent;
}

void ForgetWaitingAgent(int pid) {
  const std::lock_guard lock(g_agents_mutex);
  AgentsByPid().erase(pid);
}

std::optional<WaitingAgent> FindWaitingAgent(int pid) {
  const std::lock_guard lock(g_agents_mutex);
  const auto found = AgentsByPid().find(pid);
  if (found == AgentsByPid().end()) return std::nullopt;
  return found->second;
}

}  // namespace leakgate
