// How the agent wakes the runner with a question, and waits for its answer: two events that reset
// themselves, and the runner's process (common/nt_agent_block.h).
#pragma once

#include <cstdint>

#include "common/nt_agent_block.h"
#include "common/region_layout.h"

namespace leakgate::agent {

// Keeps the handles of `block`, and protects them from being closed by the program.
void KeepHandles(const NtAgentBlock& block);

// Called once `mailbox.request` has been raised.
void WakeRunner(Mailbox& mailbox);

// Called by the thread that waits, when it is woken and there is no answer yet. Set before the
// first question.
extern void (*g_on_wake)(Mailbox& mailbox);

// Waits until the runner says that it has answered. Returns false if the runner has died.
[[nodiscard]] bool AwaitRunner(Mailbox& mailbox, std::uint32_t reply);

}  // namespace leakgate::agent
