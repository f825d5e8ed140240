// The end of a pipe on which a run listens (message_socket.h). A pipe has one client at a time:
// others wait until that has gone.
#pragma once

#include <chrono>
#include <string>

#include "runner/base/descriptors.h"

namespace leakgate {

// Makes the pipe `name`, which only this user can open. Returns an empty handle on failure, as
// where another process has made a pipe of that name.
[[nodiscard]] UniqueFd MakePipe(const std::string& name);

// Waits for a client. Returns false once `stop` is set.
[[nodiscard]] bool AwaitClient(const UniqueFd& pipe, const UniqueFd& stop);
// Waits until the client has read what was sent, a second at most, and lets the next one connect.
void DismissClient(const UniqueFd& pipe);

enum class ClientWait { kClient, kStopped, kEnded, kTooLong };
// Waits until the client says something or goes, or one of the others is set; `ended` may be empty.
[[nodiscard]] ClientWait AwaitWord(const UniqueFd& pipe, const UniqueFd& stop,
                                   const UniqueFd& ended, std::chrono::milliseconds patience);

// Returns whether a pipe has that name, whoever made it.
[[nodiscard]] bool IsPipe(const std::string& name);

// Connects to a pipe of this user's, and waits `patience` at most while it has a client. Returns an
// empty handle on failure; GetLastError then tells why.
[[nodiscard]] UniqueFd ConnectToPipe(const std::string& name, std::chrono::milliseconds patience);

}  // namespace leakgate
