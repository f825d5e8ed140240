// Messages between commands and the processes that hold regions: session owners and runs. Each side
// sends one line of JSON over an abstract socket; a descriptor may come with it.
//
// The kernel gives a name to one process only and frees it when the process ends, so nothing is
// left behind. Both ends check by SO_PEERCRED that the other belongs to the same user.
#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "runner/base/descriptors.h"
#include "runner/base/expected.h"

namespace leakgate {

struct SocketMessage {
  nlohmann::json body;
  UniqueFd fd{};  // a descriptor that comes with it; may be empty
};

// Listens under `name`. This and the functions below return an empty descriptor on failure; errno
// then tells why.
[[nodiscard]] UniqueFd ListenAs(const std::string& name);

// Accepts the next connection; returns an empty descriptor if it is not this user's.
[[nodiscard]] UniqueFd AcceptClient(const UniqueFd& listener);

// From now on, calls on `socket` wait for minutes, for requests that take an owner that long.
void AllowSlowAnswer(const UniqueFd& socket);

// Returns whether the other end belongs to this user.
[[nodiscard]] bool PeerIsThisUser(const UniqueFd& socket);
// "another user (UID 65534, PID 4711)".
[[nodiscard]] std::string UserOfPeer(const UniqueFd& socket);
// Returns the other end's PID; 0 if it is another user's or in a PID namespace that is not visible.
[[nodiscard]] int PidOfPeer(const UniqueFd& socket);

// These send and receive one message. Their errors say that `peer` ("the session's owner") does not
// answer.
[[nodiscard]] Expected<void> SendMessage(const UniqueFd& socket, const SocketMessage& message,
                                         std::string_view peer);
[[nodiscard]] Expected<SocketMessage> ReceiveMessage(const UniqueFd& socket, std::string_view peer);

// Returns what follows `prefix` in the names of listening sockets, sorted and without duplicates.
// Any user may choose such names, and a name may contain a line break and so look like several:
// only a connection proves that a name exists.
[[nodiscard]] std::vector<std::string> ListeningNames(const std::string& prefix);

// Connects without waiting. errno is EAGAIN if too many others wait to be accepted.
[[nodiscard]] UniqueFd ConnectAtOnce(const std::string& name);
// From now on each send and receive on `socket` waits for `patience` at most.
void LimitWaits(const UniqueFd& socket, std::chrono::seconds patience);

struct PeerQuestion {
  std::string name;  // of the socket
  nlohmann::json body;
};
struct PeerReply {
  enum class State {
    kNobody,  // the peer is another user's or has gone; it was told nothing
    kClosed,  // no connection could be made in time, so the peer's user is unknown
    kSilent,  // the peer is this user's and has not answered in time
    kAnswered,
  };
  State state = State::kNobody;
  int pid = 0;  // the peer's, as from PidOfPeer; 0 if unknown
  SocketMessage message{};
};
// Asks all peers at once and returns a reply for each question. Another user's peer can delay it by
// half a second at most, by accepting no connection. A peer of this user can delay it by two
// seconds, because it may be busy.
[[nodiscard]] std::vector<PeerReply> AskAll(const std::vector<PeerQuestion>& questions);

// Returns the member `key` of JSON that another process has sent, or `otherwise` if it is missing
// or of another type.
template <typename T>
[[nodiscard]] T MemberOr(const nlohmann::json& body, const char* key, T otherwise) {
  if (!body.is_object()) return otherwise;
  const auto member = body.find(key);
  if (member == body.end()) return otherwise;
  if (std::is_integral_v<T> && member->is_number_float()) return otherwise;
  try {
    return member->get<T>();
  } catch (const nlohmann::json::exception&) {
    return otherwise;
  }
}

// Sets `value` to the member `key` of `body` if that exists and has its type.
template <typename T>
void ReadMember(const nlohmann::json& body, const char* key, T& value) {
  value = MemberOr(body, key, std::move(value));
}

// These convert an error to an answer, and back. ErrorFromJson returns nullopt if the answer is not
// an error.
[[nodiscard]] nlohmann::json ToJson(const Error& error);
[[nodiscard]] std::optional<Error> ErrorFromJson(const nlohmann::json& body);

}  // namespace leakgate
