#include "plugin/agent/linux/control_client.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

#include "common/control_protocol.h"
#include "common/region_layout.h"
#include "plugin/agent/linux/syscall.h"

namespace leakgate::agent {
namespace {

class Socket {
 public:
  Socket() : fd_(RawSyscall(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)) {}
  ~Socket() {
    if (!IsError(fd_)) CloseDescriptor(static_cast<int>(fd_));
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  bool Connect(const char* name) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::size_t length = std::strlen(name);
    if (IsError(fd_) || length >= sizeof(address.sun_path)) return false;
    std::memcpy(address.sun_path + 1, name, length);
    const auto bytes = static_cast<long>(offsetof(sockaddr_un, sun_path) + 1 + length);
    return !IsError(RawSyscall(SYS_connect, fd_, Word(&address), bytes));
  }

  // A runner of this user's or of root's, and no one else who took the name.
  bool PeerIsTrusted() const {
    ucred peer{};
    if (!ReadPeer(peer)) return false;
    return peer.uid == 0 || peer.uid == static_cast<uid_t>(RawSyscall(SYS_geteuid));
  }

  // The runner has launched this process: it judges the process, or ends with it.
  bool PeerIsParent() const {
    ucred peer{};
    return ReadPeer(peer) && peer.pid == static_cast<pid_t>(RawSyscall(SYS_getppid));
  }

  bool Send(const void* message, std::size_t bytes) {
    constexpr long kFlags = MSG_NOSIGNAL;
    const auto count = static_cast<long>(bytes);
    return RawSyscall(SYS_sendto, fd_, Word(message), count, kFlags) == count;
  }

  void SetPatience(int option, long seconds) {
    const timeval patience{seconds, 0};
    RawSyscall(SYS_setsockopt, fd_, SOL_SOCKET, option, Word(&patience), sizeof(patience));
  }

  // The descriptor that came with `answer`, or -1. A runner that somebody has stopped is
  // waited for; an owner of sessions that hangs is not to keep others' programs from beginning.
  int Receive(Answer& answer) {
    if (!PeerIsParent()) SetPatience(SO_RCVTIMEO, 10);
    iovec part{&answer, sizeof(answer)};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    long got = -EINTR;  // as a signal, or a debugger, may have it
    while (got == -EINTR) got = RawSyscall(SYS_recvmsg, fd_, Word(&message), MSG_CMSG_CLOEXEC);
    if (got != sizeof(answer)) return -1;
    return DescriptorIn(message);
  }

 private:
  bool ReadPeer(ucred& peer) const {
    socklen_t bytes = sizeof(peer);
    return !IsError(
        RawSyscall(SYS_getsockopt, fd_, SOL_SOCKET, SO_PEERCRED, Word(&peer), Word(&bytes)));
  }

  static int DescriptorIn(msghdr& message) {
    const cmsghdr* const header = CMSG_FIRSTHDR(&message);
    if (header == nullptr || header->cmsg_type != SCM_RIGHTS) return -1;
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(header), sizeof(fd));
    return fd;
  }

  long fd_;
};

}  // namespace

ControlReply AskToBeTraced(const char* name) {
  Socket socket;
  if (!socket.Connect(name) || !socket.PeerIsTrusted()) return {};
  const Hello hello{kControlMagic, kLayoutVersion};
  if (!socket.Send(&hello, sizeof(hello))) return {};

  Answer answer{};
  const int fd = socket.Receive(answer);
  if (answer.magic != kControlMagic) return {};
  const bool is_traced = answer.action == static_cast<std::uint32_t>(ControlAction::kTrace);
  return {.has_answered = true,
          .region_fd = is_traced ? fd : -1,
          .wants = answer.wants,
          .window = answer.window};
}

void SendExecNotice(const char* name, const ExecNotice& notice) {
  Socket socket;
  socket.SetPatience(SO_SNDTIMEO, 2);  // of connect, too
  if (!socket.Connect(name) || !socket.PeerIsTrusted()) return;
  socket.Send(&notice, offsetof(ExecNotice, path) + notice.path_length);
}

}  // namespace leakgate::agent
