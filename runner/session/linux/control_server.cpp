#include "runner/session/linux/control_server.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <cstddef>
#include <cstring>

#include "common/control_protocol.h"
#include "common/region_layout.h"
#include "runner/util/linux/errno_text.h"

namespace leakgate {
namespace {

constexpr int kBacklog = 128;

Expected<std::string> RandomName() {
  std::uint64_t random[2] = {};
  if (::getrandom(random, sizeof(random), 0) != sizeof(random)) {
    return InconclusiveError(fmt::format("no random numbers to be had: {}", ErrnoText()));
  }
  return fmt::format("leakgate-{:016x}{:016x}", random[0], random[1]);
}

Expected<UniqueFd> Listen(const std::string& name) {
  UniqueFd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (!fd || ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), bytes) != 0 ||
      ::listen(fd.get(), kBacklog) != 0) {
    return InconclusiveError(fmt::format("cannot open the control socket: {}", ErrnoText()));
  }
  return fd;
}

bool IsReadable(short revents) { return (revents & POLLIN) != 0; }

void Send(const UniqueFd& client, const HelloReply& reply) {
  const bool is_traced = reply.region_fd >= 0;
  const ControlAction action = is_traced ? ControlAction::kTrace : ControlAction::kStayOff;
  Answer answer{kControlMagic, static_cast<std::uint32_t>(action), reply.wants, reply.window};
  iovec part{&answer, sizeof(answer)};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (is_traced) {
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &reply.region_fd, sizeof(reply.region_fd));
  }
  ::sendmsg(client.get(), &message, MSG_NOSIGNAL);
}

// What a process says first: either of the two, told apart by their numbers.
struct Message {
  ExecNotice notice{};
  std::size_t bytes = 0;

  bool IsHello() const { return notice.magic == kControlMagic && bytes == sizeof(Hello); }
  // Whole, and its path is text.
  bool IsNotice() const {
    constexpr std::size_t kHeader = offsetof(ExecNotice, path);
    return notice.magic == kExecMagic && bytes >= kHeader && notice.path_length == bytes - kHeader;
  }
  Hello AsHello() const {
    Hello hello{};
    std::memcpy(&hello, &notice, sizeof(hello));
    return hello;
  }
};

// A client that says nothing must not hold up the others for long.
Message Receive(const UniqueFd& client) {
  const timeval patience{2, 0};
  ::setsockopt(client.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  Message message;
  const ssize_t bytes = ::recv(client.get(), &message.notice, sizeof(message.notice), 0);
  if (bytes > 0) message.bytes = static_cast<std::size_t>(bytes);
  return message;
}

}  // namespace

Expected<std::unique_ptr<ControlServer>> ControlServer::Start(ControlHandlers handlers) {
  Expected<std::string> name = RandomName();
  if (!name) return Unexpected(name.error());
  Expected<UniqueFd> listener = Listen(*name);
  if (!listener) return Unexpected(listener.error());

  std::unique_ptr<ControlServer> server(new ControlServer);
  server->name_ = *std::move(name);
  server->handlers_ = std::move(handlers);
  server->listener_ = *std::move(listener);
  server->stop_ = UniqueFd(::eventfd(0, EFD_CLOEXEC));
  if (!server->stop_) return InconclusiveError(fmt::format("no event descriptor: {}", ErrnoText()));
  server->thread_ = std::thread([raw = server.get()] { raw->Serve(); });
  return server;
}

ControlServer::~ControlServer() {
  if (!thread_.joinable()) return;
  ::eventfd_write(stop_.get(), 1);
  thread_.join();
}

void ControlServer::Serve() {
  for (;;) {
    pollfd waits[] = {{stop_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
    ::poll(waits, 2, -1);
    if (IsReadable(waits[0].revents)) break;
    if (IsReadable(waits[1].revents)) ServeOne();
  }
  // Those that have connected already, and no more: processes may go on for ever.
  for (int i = 0; i < kBacklog && ServeOne(); ++i) {
  }
}

bool ControlServer::ServeOne() {
  const UniqueFd client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (client) Serve(client);
  return static_cast<bool>(client);
}

void ControlServer::Serve(const UniqueFd& client) {
  ucred peer{};
  socklen_t bytes = sizeof(peer);
  if (::getsockopt(client.get(), SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0) return;
  // Root may launch a program that takes on another user's rights.
  if (peer.uid != ::geteuid() && ::geteuid() != 0) return;

  const Message message = Receive(client);
  if (message.IsNotice() && handlers_.on_exec) handlers_.on_exec(peer.pid, message.notice);
  if (!message.IsHello()) return;
  const bool is_ours = message.AsHello().layout_version == kLayoutVersion;
  Send(client, is_ours ? handlers_.on_hello(peer.pid) : HelloReply{});
}

}  // namespace leakgate
