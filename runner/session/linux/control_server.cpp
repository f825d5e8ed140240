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

Expected<std::string> RandomName() {
  std::uint64_t random[2] = {};
  if (::getrandom(random, sizeof(random), 0) != sizeof(random)) {
    return InconclusiveError(fmt::format("no random numbers to be had: {}", ErrnoText()));
  }
  return fmt::format("leakgate-{:016x}{:016x}", random[0], random[1]);
}

Expected<UniqueFd> Listen(const std::string& name) {
  UniqueFd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  constexpr int kBacklog = 128;
  if (!fd || ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), bytes) != 0 ||
      ::listen(fd.get(), kBacklog) != 0) {
    return InconclusiveError(fmt::format("cannot open the control socket: {}", ErrnoText()));
  }
  return fd;
}

bool IsReadable(short revents) { return (revents & POLLIN) != 0; }

void Send(const UniqueFd& client, ControlAction action, int region_fd) {
  leakgate::Answer answer{kControlMagic, static_cast<std::uint32_t>(action)};
  iovec part{&answer, sizeof(answer)};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (action == ControlAction::kTrace) {
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &region_fd, sizeof(region_fd));
  }
  ::sendmsg(client.get(), &message, MSG_NOSIGNAL);
}

// A client that says nothing must not hold up the others for long.
bool ReceiveHello(const UniqueFd& client, Hello& hello) {
  const timeval patience{2, 0};
  ::setsockopt(client.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  return ::recv(client.get(), &hello, sizeof(hello), 0) == sizeof(hello) &&
         hello.magic == kControlMagic;
}

}  // namespace

Expected<std::unique_ptr<ControlServer>> ControlServer::Start(RegionFor region_for) {
  Expected<std::string> name = RandomName();
  if (!name) return Unexpected(name.error());
  Expected<UniqueFd> listener = Listen(*name);
  if (!listener) return Unexpected(listener.error());

  std::unique_ptr<ControlServer> server(new ControlServer);
  server->name_ = *std::move(name);
  server->region_for_ = std::move(region_for);
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
    if (IsReadable(waits[0].revents)) return;
    if (!IsReadable(waits[1].revents)) continue;
    const UniqueFd client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (client) Answer(client);
  }
}

void ControlServer::Answer(const UniqueFd& client) {
  ucred peer{};
  socklen_t bytes = sizeof(peer);
  if (::getsockopt(client.get(), SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0) return;
  // Root may launch a program that takes on another user's rights.
  if (peer.uid != ::geteuid() && ::geteuid() != 0) return;

  Hello hello{};
  if (!ReceiveHello(client, hello)) return;
  const int region_fd = hello.layout_version == kLayoutVersion ? region_for_(peer.pid) : -1;
  Send(client, region_fd < 0 ? ControlAction::kStayOff : ControlAction::kTrace, region_fd);
}

}  // namespace leakgate
