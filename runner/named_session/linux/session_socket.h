// Where the commands and a session's owner meet: an abstract socket by the session's name, so
// two sessions of one name cannot be. What is said there: message_socket.h.
#pragma once

#include <string>
#include <vector>

#include "runner/named_session/linux/message_socket.h"
#include "runner/util/expected.h"
#include "runner/util/linux/unique_fd.h"

namespace leakgate {

inline constexpr char kSessionOwner[] = "the session's owner";

// Letters, digits, '.', '_' and '-', 64 at most. Else a usage error.
[[nodiscard]] Expected<void> CheckSessionName(const std::string& name);

// Takes the name; a usage error if a session has it. REQUIRES: CheckSessionName, as the next.
[[nodiscard]] Expected<UniqueFd> ListenAsSession(const std::string& name);

// Connected to the session's owner; a usage error if there is no such session.
[[nodiscard]] Expected<UniqueFd> ConnectToSession(const std::string& name);

// The names of this user's sessions, sorted.
[[nodiscard]] std::vector<std::string> SessionNames();

}  // namespace leakgate
