// How the commands talk to whoever holds regions, the owner of a session or a run: by an
// abstract socket, with one line of JSON each way, and a descriptor that may come along.
//
// The kernel lets one process have a name, and takes it away with its owner, however that
// ends: nothing is left behind. Both ends check by SO_PEERCRED that the other is the same
// user's.
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
  UniqueFd fd{};  // that comes with it; may be empty
};

// Listens under `name`. Returns an empty descriptor on failure; errno tells why, here and below.
[[nodiscard]] UniqueFd ListenAs(const std::string& name);

// Connects to `name`. Each later call on the socket takes `patience` at most.
[[nodiscard]] UniqueFd ConnectTo(const std::string& name, std::chrono::seconds patience);

// Accepts the next that connects; an empty descriptor if it is not this user's.
[[nodiscard]] UniqueFd AcceptClient(const UniqueFd& listener);

// Lets what is received from `socket` next take as long as the other end lives.
void AllowSlowAnswer(const UniqueFd& socket);

// Whether the other end is this user's; its PID, 0 if it is not, or in a PID namespace that is not
// seen from here.
[[nodiscard]] bool PeerIsThisUser(const UniqueFd& socket);
[[nodiscard]] int PidOfPeer(const UniqueFd& socket);

// Send and receive one message. Errors say that `peer` ("the session's owner") does not answer.
[[nodiscard]] Expected<void> SendMessage(const UniqueFd& socket, const SocketMessage& message,
                                         std::string_view peer);
[[nodiscard]] Expected<SocketMessage> ReceiveMessage(const UniqueFd& socket, std::string_view peer);

// Returns what follows `prefix` in the names of the sockets that are listened on, sorted, each
// once. Any user may choose such names, and a name can pretend to be several: what a name is good
// for is known once the kernel has connected to it.
[[nodiscard]] std::vector<std::string> ListeningNames(const std::string& prefix);

// Connects without waiting. errno is EAGAIN where too many wait there to be accepted.
[[nodiscard]] UniqueFd ConnectAtOnce(const std::string& name);
// From now on each call that receives or sends on `socket` waits for `patience` at most.
void LimitWaits(const UniqueFd& socket, std::chrono::seconds patience);

struct PeerQuestion {
  std::string name;  // of the socket
  nlohmann::json body;
};
struct PeerReply {
  enum class State {
    kNobody,  // it is another user's, or has gone: it was told nothing
    kClosed,  // nobody could connect in time: whose it is is not known
    kSilent,  // this user's, and it has not answered in time
    kAnswered,
  };
  State state = State::kNobody;
  int pid = 0;  // whose it is, as PidOfPeer; 0: it is not known
  SocketMessage message{};
};
// Asks all at once, and returns a reply for each question. Another user's can hold it up for half a
// second at most, by letting nobody connect; one of this user's, for two: it may be at work, on a
// busy machine.
[[nodiscard]] std::vector<PeerReply> AskAll(const std::vector<PeerQuestion>& questions);

// The member `key` of JSON that another process has sent: of any type, or not there.
// `otherwise` where it is not of that type.
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

// Sets `value` to the member `key` of `body`, if it is there and of its type.
template <typename T>
void ReadMember(const nlohmann::json& body, const char* key, T& value) {
  value = MemberOr(body, key, std::move(value));
}

// An answer that says what went wrong, and the error that an answer says; none: it is a good one.
[[nodiscard]] nlohmann::json ToJson(const Error& error);
[[nodiscard]] std::optional<Error> ErrorFromJson(const nlohmann::json& body);

}  // namespace leakgate
