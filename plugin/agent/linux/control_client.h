// The agent's end of the control protocol (common/control_protocol.h).
#pragma once

#include "common/control_protocol.h"

namespace leakgate::agent {

// The runner's answer. An answer of another user's runner, or of a runner of another version, is
// ignored.
struct ControlReply {
  bool has_answered = false;
  int region_fd = -1;  // -1 if this process is not to be traced
  std::uint32_t wants = 0;
  std::uint32_t window = 0;  // of the program under test, in which this process was started
};

// Returns whether the process has ended, even if its parent has not been told yet.
[[nodiscard]] bool HasDied(int pid);

// Asks the runner at the abstract socket `name` whether to trace this process, which has begun as
// `from` says. A forked child waits for the runner of its run as long as that is alive.
ControlReply AskToBeTraced(const char* name, HelloFrom from = HelloFrom::kProgram,
                           std::uint32_t window = 0);

// Notifies the runner of a program that is about to be executed. Does not wait for an answer.
void SendExecNotice(const char* name, const ExecNotice& notice);

}  // namespace leakgate::agent
