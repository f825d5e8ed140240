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

void (*g_on_wake)(Mailbox& mailbox) = nullptr;

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
bool AwaitRunner(Mailbox& mailbox, std::uint32_t reply) {
  const LastErrorKeeper keeper;
  const bool is_woken = ::WaitForMultipleObjects(2, g_waits, FALSE, INFINITE) == WAIT_OBJECT_0;
  const bool is_answered = mailbox.reply.load(std::memory_order_relaxed) != reply;
  if (is_woken && !is_answered && g_on_wake != nullptr) g_on_wake(mailbox);
  return is_woken;
}

}  // namespace leakgate::agent
