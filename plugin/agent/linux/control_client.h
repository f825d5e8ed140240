// The agent's end of the control protocol (common/control_protocol.h).
#pragma once

#include "common/control_protocol.h"

namespace leakgate::agent {

// What the runner has answered. Of no runner, or one of another user or version: nothing.
struct ControlReply {
  bool has_answered = false;
  int region_fd = -1;  // -1: this process is not traced
  std::uint32_t wants = 0;
  std::uint32_t window = 0;  // of the program under test: in which the process was started
};

// Asks the runner at the abstract socket `name` what is to become of this process.
ControlReply AskToBeTraced(const char* name);

// Tells it of a program that is about to be executed. Waits for no answer.
void SendExecNotice(const char* name, const ExecNotice& notice);

}  // namespace leakgate::agent
