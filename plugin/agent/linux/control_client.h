// The agent's end of the control protocol (common/control_protocol.h).
#pragma once

#include "common/control_protocol.h"

namespace leakgate::agent {

// What the runner has answered. The answer of another user's runner, or of one of another version,
// does not count.
struct ControlReply {
  bool has_answered = false;
  int region_fd = -1;  // -1 if this process is not to be traced
  std::uint32_t wants = 0;
  std::uint32_t window = 0;  // of the program under test, in which this process was started
};

// Whether the process has ended, though its parent may not have heard of that yet.
[[nodiscard]] bool HasDied(int pid);

// Asks the runner at the abstract socket `name` what is to become of this process, which has come
// to be as `from` says. A forked child waits for the runner of its run as long as that lives.
ControlReply AskToBeTraced(const char* name, HelloFrom from = HelloFrom::kProgram,
                           std::uint32_t window = 0);

// Tells the runner of a program that is about to be executed. Does not wait for an answer.
void SendExecNotice(const char* name, const ExecNotice& notice);

}  // namespace leakgate::agent
