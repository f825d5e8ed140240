// Where the commands and a session's owner meet: an abstract socket by the session's name, so
// two sessions of one name cannot be. What is said there: message_socket.h.
#pragma once

#include <string>
#include <vector>

#include "runner/base/descriptors.h"
#include "runner/base/expected.h"
#include "runner/named_session/linux/message_socket.h"

namespace leakgate {

inline constexpr char kSessionOwner[] = "the session's owner";

// Letters, digits, '.', '_' and '-', 64 at most. Else a usage error.
[[nodiscard]] Expected<void> CheckSessionName(const std::string& name);

// Takes the name; a usage error if a session has it. REQUIRES: CheckSessionName, as the next.
[[nodiscard]] Expected<UniqueFd> ListenAsSession(const std::string& name);

// Connected to the session's owner; a usage error if there is no such session.
[[nodiscard]] Expected<UniqueFd> ConnectToSession(const std::string& name);

// Whether somebody has the name.
[[nodiscard]] bool IsSessionName(const std::string& name);

// What this user's sessions may be called, sorted. Others may have chosen such names, too:
// who has one is known once it has been connected to.
[[nodiscard]] std::vector<std::string> SessionNames();
// The socket's name of each.
[[nodiscard]] std::string SessionSocketName(const std::string& name);

}  // namespace leakgate
