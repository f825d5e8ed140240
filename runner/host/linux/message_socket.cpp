#include "runner/host/message_socket.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <sstream>

#include "runner/base/descriptors.h"
#include "runner/base/linux/local_socket.h"
#include "runner/process/proc_files.h"

namespace leakgate {
namespace {

// Other users may take places, too, while an owner is busy.
constexpr int kMostWaitingCommands = 4096;
constexpr std::size_t kLongestMessage = std::size_t{64} << 20;
// The time for a client to send its request and to receive the answer.
constexpr std::chrono::seconds kCommandPatience(20);
// For requests that take an owner minutes, such as to stop the tracing of hundreds of processes.
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

std::string LineOf(const nlohmann::json& body) {
  // A program's arguments may contain bytes that are not UTF-8; they are replaced.
  return body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
}

// Receives one message in parts.
class Reception {
 public:
  // Returns what recvmsg returned: 0 at the end, less than 0 on failure (errno tells why).
  ssize_t ReceivePart(const UniqueFd& socket) {
    char bytes[16384];
    Packet packet(bytes, sizeof(bytes));
    packet.MakeRoom();
    const ssize_t count = ::recvmsg(socket.get(), packet.get(), MSG_CMSG_CLOEXEC);
    if (count < 0) return count;
    if (const int fd = packet.Attached(); fd >= 0) message_.fd = UniqueFd(fd);
    text_.append(bytes, static_cast<std::size_t>(count));
    has_ended_ = count == 0 || text_.back() == '\n' || text_.size() > kLongestMessage;
    return count;
  }
  bool has_ended() const { return has_ended_; }

  // Returns nullopt if the text is not a message. REQUIRES: has_ended.
  std::optional<SocketMessage> Take() {
    message_.body = nlohmann::json::parse(text_, nullptr, false);
    if (!message_.body.is_object()) return std::nullopt;
    return std::move(message_);
  }

 private:
  std::string text_;
  SocketMessage message_;
  bool has_ended_ = false;
};

// The conversation with one of the peers that are asked at once.
class PeerConversation {
 public:
  explicit PeerConversation(const PeerQuestion& question) : question_(question) {}

  const UniqueFd& socket() const { return socket_; }
  bool is_connecting() const { return is_connecting_; }
  PeerReply& reply() { return reply_; }

  // Sends the question only after it has checked that the peer is this user's.
  void Connect() {
    socket_ = ConnectAtOnce(question_.name);
    is_connecting_ = !socket_ && errno == EAGAIN;
    reply_.state = is_connecting_ ? PeerReply::State::kClosed : PeerReply::State::kNobody;
    if (!socket_) return;
    if (!PeerIsThisUser(socket_)) return socket_.Reset();
    reply_.pid = PidOfPeer(socket_);
    reply_.state = PeerReply::State::kSilent;
    const std::string line = LineOf(question_.body);
    const ssize_t sent = ::send(socket_.get(), line.data(), line.size(), MSG_NOSIGNAL);
    if (sent != static_cast<ssize_t>(line.size())) socket_.Reset();
  }

  // Receives what has arrived so far.
  void Receive() {
    while (!reception_.has_ended()) {
      if (reception_.ReceivePart(socket_) >= 0) continue;
      if (errno == EAGAIN || errno == EINTR) return;
      break;
    }
    socket_.Reset();
    reply_.state = PeerReply::State::kNobody;  // the peer has broken off
    std::optional<SocketMessage> message = reception_.Take();
    if (!message) return;
    reply_.state = PeerReply::State::kAnswered;
    reply_.message = *std::move(message);
  }

 private:
  const PeerQuestion& question_;
  UniqueFd socket_;
  bool is_connecting_ = true;
  Reception reception_;
  PeerReply reply_;
};

// Waits until one of `conversations` has something to read, or until `patience` is over.
void AwaitAnswer(std::vector<PeerConversation>& conversations, std::chrono::milliseconds patience) {
  std::vector<pollfd> waits;
  for (const PeerConversation& conversation : conversations) {
    if (conversation.socket()) waits.push_back({conversation.socket().get(), POLLIN, 0});
  }
  ::poll(waits.data(), waits.size(), static_cast<int>(patience.count()));
}

// Returns the name in a line of /proc/net/unix if the line is of a listening stream socket:
// "0000000000000000: 00000002 00000000 00010000 0001 01 12345 @name". Else returns "".
std::string ListeningName(const std::string& line) {
  std::istringstream fields(line);
  std::string address;
  std::string references;
  std::string protocol;
  std::string flags;
  std::string type;
  std::string state;
  std::string inode;
  fields >> address >> references >> protocol >> flags >> type >> state >> inode;
  if (flags != "00010000" || type != "0001" || state != "01" || fields.get() != ' ') return "";
  std::string name;
  std::getline(fields, name);
  return name;
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
                       ::listen(socket.get(), kMostWaitingCommands) == 0;
  return listens ? std::move(socket) : UniqueFd();
}

void AllowSlowAnswer(const UniqueFd& socket) { SetPatience(socket, kGreatPatience); }

bool PeerIsThisUser(const UniqueFd& socket) { return PeerOf(socket).uid == ::geteuid(); }

std::string UserOfPeer(const UniqueFd& socket) {
  const ucred peer = PeerOf(socket);
  const std::string pid = peer.pid == 0 ? "" : fmt::format(", PID {}", peer.pid);
  return fmt::format("another user (UID {}{})", peer.uid, pid);
}

int PidOfPeer(const UniqueFd& socket) { return PeerIsThisUser(socket) ? PeerOf(socket).pid : 0; }

UniqueFd AcceptClient(const UniqueFd& listener) {
  UniqueFd client(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!client || !PeerIsThisUser(client)) return {};
  SetPatience(client, kCommandPatience);
  return client;
}

Expected<void> SendMessage(const UniqueFd& socket, const SocketMessage& message,
                           std::string_view peer) {
  std::string text = LineOf(message.body);
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
  Reception reception;
  while (!reception.has_ended()) {
    if (reception.ReceivePart(socket) < 0) return DoesNotAnswer(peer);
  }
  std::optional<SocketMessage> message = reception.Take();
  if (message) return *std::move(message);
  return InconclusiveError(fmt::format("{} broke off; see leakgate session list", peer));
}

std::vector<std::string> ListeningNames(const std::string& prefix) {
  const std::string start = '@' + prefix;
  std::istringstream sockets(ReadProcFile("/proc/net/unix").value_or(""));
  std::vector<std::string> names;
  for (std::string line; std::getline(sockets, line);) {
    const std::string name = ListeningName(line);
    if (name.starts_with(start)) names.push_back(name.substr(start.size()));
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

UniqueFd ConnectAtOnce(const std::string& name) {
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const AbstractAddress address(name);
  if (!socket) return socket;
  const bool is_connected = ::connect(socket.get(), address.get(), address.size()) == 0;
  return is_connected ? std::move(socket) : UniqueFd();
}

void LimitWaits(const UniqueFd& socket, std::chrono::seconds patience) {
  SetPatience(socket, patience);
  ::fcntl(socket.get(), F_SETFL, ::fcntl(socket.get(), F_GETFL) & ~O_NONBLOCK);
}

std::vector<PeerReply> AskAll(const std::vector<PeerQuestion>& questions) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kToConnect(500);
  constexpr std::chrono::milliseconds kToAnswer(2000);
  // The kernel does not report when a listener has room for one more connection.
  constexpr std::chrono::milliseconds kAgain(20);
  std::vector<PeerConversation> conversations(questions.begin(), questions.end());
  const Clock::time_point begin = Clock::now();
  for (;;) {
    bool is_connecting = false;
    bool is_asked = false;
    for (PeerConversation& conversation : conversations) {
      if (conversation.is_connecting()) conversation.Connect();
      if (conversation.socket()) conversation.Receive();
      is_connecting = is_connecting || conversation.is_connecting();
      is_asked = is_asked || conversation.socket();
    }
    const auto passed = std::chrono::floor<std::chrono::milliseconds>(Clock::now() - begin);
    is_connecting = is_connecting && passed < kToConnect;
    if (!is_connecting && (!is_asked || passed >= kToAnswer)) break;
    AwaitAnswer(conversations, is_connecting ? kAgain : kToAnswer - passed);
  }
  std::vector<PeerReply> replies;
  for (PeerConversation& conversation : conversations)
    replies.push_back(std::move(conversation.reply()));
  return replies;
}

}  // namespace leakgate
