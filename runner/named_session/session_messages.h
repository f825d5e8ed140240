// What a session's owner tells its commands, as values and as JSON. Pure.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runner/named_session/session_processes.h"

namespace leakgate {

struct SessionStatus {
  std::string name;
  int owner_pid = 0;
  std::int64_t begin_seconds = 0;  // since 1970
  std::string control;             // the control socket's name, for programs to be started
  std::uint32_t stack_depth = 0;
  std::uint32_t stack_events = kDefaultStackEvents;
  SessionScope scope;
  std::uint64_t forgotten = 0;  // processes that have ended, and are not kept any more
  std::uint64_t untraced = 0;   // that could not be traced; `processes` has the newest
  std::vector<ProcessStatus> processes;
};

// The word of a state in answers and on the screen.
[[nodiscard]] const char* WordOf(ProcessState state);

[[nodiscard]] nlohmann::json ToJson(const SessionStatus& status);
// What is missing or of another type is left as it is in an empty status.
[[nodiscard]] SessionStatus StatusFromJson(const nlohmann::json& body);

[[nodiscard]] nlohmann::json ToJson(const ProcessStatus& process);
[[nodiscard]] ProcessStatus ProcessFromJson(const nlohmann::json& body);

[[nodiscard]] nlohmann::json ToJson(const SessionScope& scope);
// An error names what is no image.
[[nodiscard]] Expected<SessionScope> ScopeFromJson(const nlohmann::json& body);

[[nodiscard]] nlohmann::json ToJson(const Error& error);
// None: the answer is a good one.
[[nodiscard]] std::optional<Error> ErrorFromJson(const nlohmann::json& body);

}  // namespace leakgate
