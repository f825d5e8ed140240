// What a session is told to trace, and what its owner tells of it. Values only.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <vector>

#include "common/stack_event.h"
#include "runner/base/expected.h"
#include "runner/host/traced_status.h"
#include "runner/sessions/session_image.h"

namespace leakgate {

// Whose processes a session traces by their images, besides those of its owner's user. Only
// root's owner can trace others'. A process that is named by its PID may be anybody's.
struct SessionUsers {
  bool are_all = false;
  std::set<unsigned> uids;

  bool Has(unsigned uid) const { return are_all || uids.contains(uid); }
};

// What a session is told to trace.
struct SessionScope {
  std::vector<ImageSelector> images;
  std::set<int> pids;
  SessionUsers users{};
};

// How the stacks of each traced process are recorded.
struct StackSettings {
  std::uint32_t depth = kDefaultStackDepth;    // where they are cut
  std::uint32_t events = kDefaultStackEvents;  // whose are recorded
};

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

// What a session's owner and its commands tell each other, as JSON. Pure.

[[nodiscard]] nlohmann::json ToJson(const SessionStatus& status);
// What is missing in `body`, or of another type, stays as it is in an empty status.
[[nodiscard]] SessionStatus StatusFromJson(const nlohmann::json& body);

[[nodiscard]] nlohmann::json ToJson(const SessionScope& scope);
// An error names what is no image.
[[nodiscard]] Expected<SessionScope> ScopeFromJson(const nlohmann::json& body);

}  // namespace leakgate
