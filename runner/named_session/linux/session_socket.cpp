#include "runner/named_session/linux/session_socket.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "runner/base/descriptors.h"

namespace leakgate {
namespace {

constexpr std::size_t kLongestName = 64;
// Enabling a running process may take a while, on a busy machine most of all.
constexpr std::chrono::seconds kSessionPatience(120);

std::string SessionPrefix() { return fmt::format("leakgate-session-{}-", ::geteuid()); }

}  // namespace

Expected<void> CheckSessionName(const std::string& name) {
  constexpr std::string_view kOthers = "._-";
  const bool is_good = std::all_of(name.begin(), name.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           kOthers.find(c) != std::string_view::npos;
  });
  if (is_good && !name.empty() && name.size() <= kLongestName) return {};
  return UsageError(
      fmt::format("'{}': not a session's name; write letters, digits, '.', '_' and '-', {} at most",
                  name, kLongestName));
}

Expected<UniqueFd> ListenAsSession(const std::string& name) {
  UniqueFd socket = ListenAs(SessionPrefix() + name);
  if (socket) return socket;
  if (errno == EADDRINUSE) {
    return UsageError(
        fmt::format("the session '{0}' exists already; stop it (leakgate session stop {0}), or "
                    "choose another name",
                    name));
  }
  return InconclusiveError(fmt::format("cannot open the session's socket: {}", ErrnoText()));
}

Expected<UniqueFd> ConnectToSession(const std::string& name) {
  UniqueFd socket = ConnectTo(SessionPrefix() + name, kSessionPatience);
  if (!socket) {
    if (errno != ECONNREFUSED && errno != ENOENT) {
      return InconclusiveError(fmt::format("cannot reach the session '{}': {}", name, ErrnoText()));
    }
    return UsageError(fmt::format(
        "there is no session '{}'; see leakgate session list, or start one: leakgate session start",
        name));
  }
  if (PeerIsThisUser(socket)) return socket;
  return InconclusiveError(
      fmt::format("the session '{}' is another user's; choose another name", name));
}

bool IsSessionName(const std::string& name) {
  return ConnectAtOnce(SessionSocketName(name)) || errno == EAGAIN;
}

std::vector<std::string> SessionNames() {
  std::vector<std::string> names = ListeningNames(SessionPrefix());
  std::erase_if(names, [](const std::string& name) { return !CheckSessionName(name); });
  return names;
}

std::string SessionSocketName(const std::string& name) { return SessionPrefix() + name; }

}  // namespace leakgate
