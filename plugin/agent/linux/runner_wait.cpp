#include "plugin/agent/linux/runner_wait.h"

#include "plugin/agent/linux/control_client.h"
#include "plugin/agent/linux/syscall.h"

namespace leakgate::agent {
namespace {

constexpr std::uint64_t kPatienceNs = 1'000'000'000;

}  // namespace

void WakeRunner(Mailbox& mailbox) { WakeWaiters(mailbox.request); }

// The mailbox is in the region, whose header names the runner.
bool AwaitRunner(Mailbox& mailbox, std::uint32_t reply) {
  if (WaitWhile(mailbox.reply, reply, kPatienceNs)) return true;
  const auto* const region = reinterpret_cast<const char*>(&mailbox) - region_offset::kMailbox;
  return !HasDied(reinterpret_cast<const RegionHeader*>(region)->runner_pid);
}

}  // namespace leakgate::agent
