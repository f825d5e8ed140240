// How the agent wakes the runner with a question, and waits for its answer.
#pragma once

#include <cstdint>

#include "common/region_layout.h"

namespace leakgate::agent {

// Called once `mailbox.request` has been raised.
void WakeRunner(Mailbox& mailbox);

// Waits for some time while `mailbox.reply` is `reply`. Returns false if the runner has died.
[[nodiscard]] bool AwaitRunner(Mailbox& mailbox, std::uint32_t reply);

}  // namespace leakgate::agent
