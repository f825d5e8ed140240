// How to reach a process's agent while a thread of it waits for an answer. The runner's server of
// the mailbox says so; whoever works on the answer may ask the thread for something meanwhile. Any
// thread may call these.
#pragma once

#include <optional>

#include "common/region_layout.h"

namespace leakgate {

struct WaitingAgent {
  Mailbox* mailbox = nullptr;
  void* answered = nullptr;  // the event that wakes the thread; a HANDLE
};

// Both live until it is forgotten.
void NoteWaitingAgent(int pid, const WaitingAgent& agent);
void ForgetWaitingAgent(int pid);

[[nodiscard]] std::optional<WaitingAgent> FindWaitingAgent(int pid);

}  // namespace leakgate
