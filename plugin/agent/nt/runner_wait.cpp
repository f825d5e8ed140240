#include "plugin/agent/nt/runner_wait.h"

#include "plugin/agent/nt/last_error.h"

namespace leakgate::agent {
namespace {

constinit HANDLE g_ask = nullptr;
constinit HANDLE g_waits[2] = {nullptr, nullptr};  // the answer, the runner's process

HANDLE Kept(std::uint64_t handle) {
  const auto kept = reinterpret_cast<HANDLE>(handle);
  ::SetHandleInformation(kept, HANDLE_FLAG_PROTECT_FROM_CLOSE, HANDLE_FLAG_PROTECT_FROM_CLOSE);
  return kept;
}

}  // namespace

void KeepHandles(const NtAgentBlock& block) {
  g_ask = Kept(block.ask);
  g_waits[0] = Kept(block.reply);
  g_waits[1] = Kept(block.runner);
}

void WakeRunner(Mailbox&) {
  const LastErrorKeeper keeper;
  ::SetEvent(g_ask);
}

// An event that was set for an earlier question ends the wait, too: the caller looks at the number.
bool AwaitRunner(Mailbox&, std::uint32_t) {
  const LastErrorKeeper keeper;
  return ::WaitForMultipleObjects(2, g_waits, FALSE, INFINITE) == WAIT_OBJECT_0;
}

}  // namespace leakgate::agent
