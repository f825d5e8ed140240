// The texts that `leakgate session` prints. Pure.
#pragma once

#include <string>
#include <vector>

#include "runner/process/process_tree.h"
#include "runner/report/style.h"
#include "runner/sessions/session_client.h"
#include "runner/sessions/session_messages.h"

namespace leakgate {

// Tells that the session runs, and what to do next.
[[nodiscard]] std::string StartedText(const SessionStatus& session);

// Tell what the session traces, and what each process has live.
[[nodiscard]] std::string SessionText(const SessionStatus& session, Colour colour);
[[nodiscard]] std::string SessionJson(const SessionStatus& session);

// List all sessions, the processes that runs trace, and processes whose session's owner has ended.
[[nodiscard]] std::string SessionListText(const std::vector<SessionStatus>& sessions,
                                          const std::vector<RunStatus>& runs,
                                          const std::vector<Orphan>& orphans);
[[nodiscard]] std::string SessionListJson(const std::vector<SessionStatus>& sessions,
                                          const std::vector<RunStatus>& runs,
                                          const std::vector<Orphan>& orphans);

}  // namespace leakgate
