// What `leakgate session` prints. Pure.
#pragma once

#include <string>
#include <vector>

#include "runner/process/process_tree.h"
#include "runner/report/style.h"
#include "runner/sessions/session_client.h"
#include "runner/sessions/session_messages.h"

namespace leakgate {

// That the session runs, and what to do next.
[[nodiscard]] std::string StartedText(const SessionStatus& session);

// What the session traces, and each process with what it has live.
[[nodiscard]] std::string SessionText(const SessionStatus& session, Colour colour);
[[nodiscard]] std::string SessionJson(const SessionStatus& session);

// A line for each session, for each process that a run traces, and for each that is traced
// for nobody.
[[nodiscard]] std::string SessionListText(const std::vector<SessionStatus>& sessions,
                                          const std::vector<RunStatus>& runs,
                                          const std::vector<Orphan>& orphans);
[[nodiscard]] std::string SessionListJson(const std::vector<SessionStatus>& sessions,
                                          const std::vector<RunStatus>& runs,
                                          const std::vector<Orphan>& orphans);

}  // namespace leakgate
