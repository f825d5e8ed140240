// The process that owns a session. It outlives the command that started it, gives regions to the
// processes that are to be traced, and answers the session's commands.
//
//   StartSession    takes the name and forks, in the command
//   the owner       leaves the terminal, opens the control socket, and reports that it is ready
//   the commands    ask, one at a time; each is answered within seconds
//   the time        is over, if the session has one: the owner ends as with stop
//   stop, SIGTERM   the owner stops the tracing and ends; the kernel frees the sockets' names
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

#include "runner/sessions/session_messages.h"
#include "runner/sessions/session_processes.h"
#include "runner/sessions/snapshot_ring.h"

namespace leakgate {

struct SessionStart {
  std::string name;
  SessionScope scope;
  std::uint32_t stack_depth = kDefaultStackDepth;
  std::uint32_t stack_events = kDefaultStackEvents;
  std::filesystem::path agent;   // the library that is loaded into running processes
  SessionRecording recording{};  // absolute paths
  SnapshotRingSettings ring{};   // likewise
  SessionReach reach = SessionReach::kBelow;
  std::optional<std::chrono::milliseconds> length{};  // after this time it ends by itself
};

// Forks the owner and waits until it serves. Returns an error, in the caller, if the session could
// not be started. REQUIRES: the calling process has one thread.
[[nodiscard]] Expected<void> StartSession(const SessionStart& start);

}  // namespace leakgate
