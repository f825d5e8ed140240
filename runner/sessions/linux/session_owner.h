// The process that owns a session: it outlives the command that started it, hands regions
// to the processes that are to be traced, and answers the session's commands.
//
//   StartSession  (the command) takes the name, forks
//   the owner     leaves the terminal, opens the control socket, says that it is ready
//   the commands  ask; one at a time, within seconds
//   stop, SIGTERM: the owner has the processes traced no more, and ends; the kernel takes the
//   sockets' names away
#pragma once

#include <filesystem>
#include <string>

#include "runner/sessions/session_messages.h"

namespace leakgate {

struct SessionStart {
  std::string name;
  SessionScope scope;
  std::uint32_t stack_depth = kDefaultStackDepth;
  std::uint32_t stack_events = kDefaultStackEvents;
  std::filesystem::path agent;  // to be loaded into running processes
};

// Forks the owner and waits until it serves. In the caller: an error if there is to be no
// session. REQUIRES: the calling process has one thread.
[[nodiscard]] Expected<void> StartSession(const SessionStart& start);

}  // namespace leakgate
