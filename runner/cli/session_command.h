// `leakgate session start|exec|update|query|list|stop`: what was asked for, and doing it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runner/sessions/linux/session_owner.h"
#include "runner/util/expected.h"

namespace leakgate {

enum class SessionOutput { kText, kJson };

struct SessionStartCommand {
  SessionStart start;
  std::vector<std::string> program;  // to be executed below it; empty: none
};

// Executes `program`: what it starts is the session's to trace.
struct SessionExecCommand {
  std::string name;
  std::vector<std::string> program;
};

struct SessionUpdateCommand {
  std::string name;
  SessionScope add;
  SessionScope drop;
};

struct SessionQueryCommand {
  std::string name;
  SessionOutput output = SessionOutput::kText;
};

enum class OrphanCare { kShow, kClear };

struct SessionListCommand {
  SessionOutput output = SessionOutput::kText;
  OrphanCare orphans = OrphanCare::kShow;  // kClear: they are traced no more
};

struct SessionStopCommand {
  std::string name;
  std::filesystem::path output;  // for snapshots of all processes; empty: none are taken
};

// The first two do not return where a program is executed.
[[nodiscard]] Expected<int> Execute(const SessionStartCommand& command);
[[nodiscard]] Expected<int> Execute(const SessionExecCommand& command);
[[nodiscard]] Expected<int> Execute(const SessionUpdateCommand& command);
[[nodiscard]] Expected<int> Execute(const SessionQueryCommand& command);
[[nodiscard]] Expected<int> Execute(const SessionListCommand& command);
[[nodiscard]] Expected<int> Execute(const SessionStopCommand& command);

}  // namespace leakgate
