#include "runner/named_session/linux/message_socket.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>

#include "runner/util/linux/errno_text.h"
#include "runner/util/linux/local_socket.h"

namespace leakgate {
namespace {

constexpr int kBacklog = 16;
constexpr std::size_t kLongestMessage = std::size_t{64} << 20;
// Of a client, in telling what it asks and taking the answer.
constexpr std::chrono::seconds kClientPatience(20);
// And in waiting for what takes an owner minutes: to let go of hundreds of processes.
constexpr std::chrono::seconds kGreatPatience(600);

UniqueFd OpenSocket() { return UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)); }

ucred PeerOf(const UniqueFd& socket) {
  ucred peer{0, static_cast<uid_t>(-1), static_cast<gid_t>(-1)};
  socklen_t bytes = sizeof(peer);
  ::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &bytes);
  return peer;
}

void SetPatience(const UniqueFd& socket, std::chrono::seconds patience) {
  const timeval time{patience.count(), 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time));
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &time, sizeof(time));
}

Unexpected DoesNotAnswer(std::string_view peer) {
  const std::string why = errno == EAGAIN ? "nothing came in time" : ErrnoText();
  return InconclusiveError(
      fmt::format("{} does not answer: {}; has it ended, or been stopped?", peer, why));
}

}  // namespace

UniqueFd ListenAs(const std::string& name) {
  UniqueFd socket = OpenSocket();
  const AbstractAddress address(name);
  const bool listens = socket && ::bind(socket.get(), address.get(), address.size()) == 0 &&
                       ::listen(socket.get(), kBacklog) == 0;
  return listens ? std::move(socket) : UniqueFd();
}

UniqueFd ConnectTo(const std::string& name, std::chrono::seconds patience) {
  UniqueFd socket = OpenSocket();
  const AbstractAddress address(name);
  if (!socket) return socket;
  SetPatience(socket, patience);
  const bool is_connected = ::connect(socket.get(), address.get(), address.size()) == 0;
  return is_connected ? std::move(socket) : UniqueFd();
}

void BePatient(const UniqueFd& socket) { SetPatience(socket, kGreatPatience); }

bool PeerIsThisUser(const UniqueFd& socket) { return PeerOf(socket).uid == ::geteuid(); }

int PidOfPeer(const UniqueFd& socket) { return PeerIsThisUser(socket) ? PeerOf(socket).pid : 0; }

UniqueFd AcceptClient(const UniqueFd& listener) {
  UniqueFd client(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!client || !PeerIsThisUser(client)) return {};
  SetPatience(client, kClientPatience);
  return client;
}

Expected<void> SendMessage(const UniqueFd& socket, const SocketMessage& message,
                           std::string_view peer) {
  // Bytes that are no text, in a program's arguments, are replaced.
  std::string text =
      message.body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
  for (std::size_t sent = 0; sent < text.size();) {
    Packet packet(text.data() + sent, text.size() - sent);
    if (sent == 0 && message.fd) packet.Attach(message.fd.get());
    const ssize_t bytes = ::sendmsg(socket.get(), packet.get(), MSG_NOSIGNAL);
    if (bytes <= 0) return DoesNotAnswer(peer);
    sent += static_cast<std::size_t>(bytes);
  }
  return {};
}

Expected<SocketMessage> ReceiveMessage(const UniqueFd& socket, std::string_view peer) {
  SocketMessage message;
  std::string text;
  while (text.empty() || text.back() != '\n') {
    char bytes[16384];
    Packet packet(bytes, sizeof(bytes));
    packet.MakeRoom();
    const ssize_t count = ::recvmsg(socket.get(), packet.get(), MSG_CMSG_CLOEXEC);
    if (count < 0) return DoesNotAnswer(peer);
    if (const int fd = packet.Attached(); fd >= 0) message.fd = UniqueFd(fd);
    text.append(bytes, static_cast<std::size_t>(count));
    if (count == 0 || text.size() > kLongestMessage) break;
  }
  message.body = nlohmann::json::parse(text, nullptr, false);
  if (message.body.is_object()) return message;
  return InconclusiveError(fmt::format("{} broke off; see leakgate session list", peer));
}

std::vector<std::string> ListeningNames(const std::string& prefix) {
  const std::string start = '@' + prefix;
  std::ifstream sockets("/proc/net/unix");
  std::vector<std::string> names;
  for (std::string line; std::getline(sockets, line);) {
    const std::size_t at = line.find(start);
    // "...: 00000002 00000000 00010000 0001 01 12345 @name": 01 is listening.
    if (at == std::string::npos || line.find(" 00010000 ") == std::string::npos) continue;
    names.push_back(line.substr(at + start.size()));
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace leakgate
