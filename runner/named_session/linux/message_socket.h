// How the commands talk to whoever holds regions, the owner of a session or a run: by an
// abstract socket, with one line of JSON each way, and a descriptor that may come along.
//
// The kernel lets one process have a name, and takes it away with its owner, however that
// ends: nothing is left behind. Both ends check by SO_PEERCRED that the other is the same
// user's.
#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "runner/base/descriptors.h"
#include "runner/base/expected.h"

namespace leakgate {

struct SocketMessage {
  nlohmann::json body;
  UniqueFd fd{};  // that comes with it; or none
};

// Takes the name. None: errno says why.
[[nodiscard]] UniqueFd ListenAs(const std::string& name);

// Each later call on the socket takes `patience` at most. None: errno says why.
[[nodiscard]] UniqueFd ConnectTo(const std::string& name, std::chrono::seconds patience);

// The next that connects, once it is known to be this user's; else none.
[[nodiscard]] UniqueFd AcceptClient(const UniqueFd& listener);

// What is received from `socket` next may take minutes: as long as the other end lives.
void BePatient(const UniqueFd& socket);

// Whether the other end is this user's; its PID, 0 if it is not, or in a PID namespace that is not
// seen from here.
[[nodiscard]] bool PeerIsThisUser(const UniqueFd& socket);
[[nodiscard]] int PidOfPeer(const UniqueFd& socket);

// One message. Errors say that `peer` ("the session's owner") does not answer.
[[nodiscard]] Expected<void> SendMessage(const UniqueFd& socket, const SocketMessage& message,
                                         std::string_view peer);
[[nodiscard]] Expected<SocketMessage> ReceiveMessage(const UniqueFd& socket, std::string_view peer);

// What follows `prefix` in the names of the sockets that are listened on, sorted, each once. Any
// user may choose such names, and a name can pretend to be several: what a name is good for is
// known once the kernel has connected to it.
[[nodiscard]] std::vector<std::string> ListeningNames(const std::string& prefix);

// Connected without waiting. None: errno says why; EAGAIN: too many wait there to be accepted.
[[nodiscard]] UniqueFd ConnectAtOnce(const std::string& name);
// What is received and sent on it from now on waits, each call for `patience` at most.
void WaitOn(const UniqueFd& socket, std::chrono::seconds patience);

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
// Asks all at once. Another user's can hold it up for half a second at most, by letting nobody
// connect; one of this user's, for two: it may be at work, on a busy machine. A reply for each
// question.
[[nodiscard]] std::vector<PeerReply> AskAll(const std::vector<PeerQuestion>& questions);

}  // namespace leakgate
