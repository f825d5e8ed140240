#include "plugin/agent/linux/control_client.h"

#include <fcntl.h>
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

// For a name under which nobody accepts. Any user may hold the name once the runner has ended.
constexpr timeval kShort{0, 100'000};
// For a runner that has proved to exist, but may hang.
constexpr timeval kLong{10, 0};
constexpr timeval kForEver{0, 0};

// Returns the number at `text` and moves `text` past it; 0 if there is none.
std::uint64_t TakeNumber(const char*& text) {
  std::uint64_t number = 0;
  for (; *text >= '0' && *text <= '9'; ++text)
    number = 10 * number + static_cast<std::uint64_t>(*text - '0');
  return number;
}

// Copies the text of /proc/PID/stat.
bool ReadStatOf(std::uint64_t pid, char* text, std::size_t bytes) {
  char path[40] = "/proc/";
  char* end = path + std::strlen(path);
  for (std::uint64_t rest = pid; rest != 0; rest /= 10) ++end;
  std::memcpy(end, "/stat", sizeof("/stat"));
  for (std::uint64_t rest = pid; rest != 0; rest /= 10) {
    *--end = static_cast<char>('0' + rest % 10);
  }
  const long fd = RawSyscall(SYS_openat, AT_FDCWD, Word(path), O_RDONLY | O_CLOEXEC);
  if (IsError(fd)) return false;
  const long got = RawSyscall(SYS_read, fd, Word(text), static_cast<long>(bytes - 1));
  CloseDescriptor(static_cast<int>(fd));
  if (got <= 0) return false;
  text[got] = '\0';
  return true;
}

// The process that owns a control name, as the name itself says (NameOfControl).
struct SocketOwner {
  std::uint64_t pid = 0;
  std::uint64_t start_time = 0;  // in the kernel's ticks since boot

  static SocketOwner Of(const char* name) {
    const std::size_t prefix = std::strlen(kControlPrefix);
    if (std::strncmp(name, kControlPrefix, prefix) != 0) return {};
    const char* text = name + prefix;
    SocketOwner owner;
    owner.pid = TakeNumber(text);
    if (*text++ != '-') return {};
    owner.start_time = TakeNumber(text);
    return owner;
  }

  bool IsParent() const { return static_cast<long>(pid) == RawSyscall(SYS_getppid); }

  // Returns whether it is still alive. As long as it is, it holds its name, so nobody else has it.
  // Returns false if that cannot be found out, as without /proc or in another PID namespace.
  bool Lives() const {
    char text[512];  // on a stack that may be small
    if (pid == 0 || start_time == 0 || !ReadStatOf(pid, text, sizeof(text))) return false;
    const char* field = std::strrchr(text, ')');  // the second field, which may contain spaces
    if (field == nullptr || std::strlen(field) < 3) return false;
    const bool has_died = field[2] == 'Z' || field[2] == 'X';
    for (int i = 2; field != nullptr && i < 22; ++i) field = std::strchr(field + 1, ' ');
    if (field == nullptr || has_died) return false;
    return TakeNumber(++field) == start_time;
  }
};

class Socket {
 public:
  Socket() : fd_(RawSyscall(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)) {}
  ~Socket() {
    if (!IsError(fd_)) CloseDescriptor(static_cast<int>(fd_));
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  // Waits up to `patience` for a runner that is alive and has many others to accept first, but not
  // for another user who has taken the name of a runner that has ended.
  bool Connect(const char* name, const timeval& patience) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::size_t length = std::strlen(name);
    if (IsError(fd_) || length >= sizeof(address.sun_path)) return false;
    std::memcpy(address.sun_path + 1, name, length);
    const auto bytes = static_cast<long>(offsetof(sockaddr_un, sun_path) + 1 + length);
    long result = ConnectWithin(kShort, address, bytes);
    if (result == -EAGAIN && SocketOwner::Of(name).Lives()) {
      result = ConnectWithin(patience, address, bytes);
    }
    return !IsError(result);
  }

  // Returns whether the peer is a runner of this user or of root, and nobody else who took the
  // name.
  bool PeerIsTrusted() const {
    ucred peer{};
    if (!ReadPeer(peer)) return false;
    return peer.uid == 0 || peer.uid == static_cast<uid_t>(RawSyscall(SYS_geteuid));
  }

  // Returns whether this process's runner has launched it: then it judges the process, or ends with
  // it.
  bool PeerIsParent() const {
    ucred peer{};
    return ReadPeer(peer) && peer.pid == static_cast<pid_t>(RawSyscall(SYS_getppid));
  }

  bool Send(const void* message, std::size_t bytes) {
    constexpr long kFlags = MSG_NOSIGNAL;
    const auto count = static_cast<long>(bytes);
    return RawSyscall(SYS_sendto, fd_, Word(message), count, kFlags) == count;
  }

  void SetPatience(int option, const timeval& patience) {
    RawSyscall(SYS_setsockopt, fd_, SOL_SOCKET, option, Word(&patience), sizeof(patience));
  }

  // Returns the descriptor that came with `answer`, or -1. A runner that somebody has stopped is
  // waited for. An owner of sessions that hangs must not keep other users' programs from beginning.
  int Receive(Answer& answer, bool waits_for_ever) {
    if (!waits_for_ever && !PeerIsParent()) SetPatience(SO_RCVTIMEO, kLong);
    iovec part{&answer, sizeof(answer)};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    long got = -EINTR;  // the result if a signal, or a debugger, interrupts the call
    while (got == -EINTR) got = RawSyscall(SYS_recvmsg, fd_, Word(&message), MSG_CMSG_CLOEXEC);
    if (got != sizeof(answer)) return -1;
    return DescriptorIn(message);
  }

 private:
  long ConnectWithin(const timeval& patience, const sockaddr_un& address, long bytes) {
    SetPatience(SO_SNDTIMEO, patience);  // it also limits connect
    long result = -EINTR;
    while (result == -EINTR) result = RawSyscall(SYS_connect, fd_, Word(&address), bytes);
    return result;
  }

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

bool HasDied(int pid) {
  constexpr long kNoSignal = 0;
  if (RawSyscall(SYS_kill, pid, kNoSignal) == -ESRCH) return true;
  char text[512];
  if (!ReadStatOf(static_cast<std::uint64_t>(pid), text, sizeof(text))) return false;
  const char* const name_end = std::strrchr(text, ')');
  return name_end != nullptr && name_end[1] == ' ' && (name_end[2] == 'Z' || name_end[2] == 'X');
}

ControlReply AskToBeTraced(const char* name, HelloFrom from, std::uint32_t window) {
  Socket socket;
  const bool is_of_run = from == HelloFrom::kForked;
  const timeval patience = is_of_run || SocketOwner::Of(name).IsParent() ? kForEver : kLong;
  if (!socket.Connect(name, patience) || !socket.PeerIsTrusted()) return {};
  const Hello hello{kControlMagic, kLayoutVersion, static_cast<std::uint32_t>(from), window};
  if (!socket.Send(&hello, sizeof(hello))) return {};

  Answer answer{};
  const int fd = socket.Receive(answer, is_of_run);
  if (answer.magic != kControlMagic) return {};
  const bool is_traced = answer.action == static_cast<std::uint32_t>(ControlAction::kTrace);
  return {.has_answered = true,
          .region_fd = is_traced ? fd : -1,
          .wants = answer.wants,
          .window = answer.window};
}

void SendExecNotice(const char* name, const ExecNotice& notice) {
  Socket socket;
  constexpr timeval kPatience{2, 0};
  if (!socket.Connect(name, kPatience) || !socket.PeerIsTrusted()) return;
  socket.Send(&notice, offsetof(ExecNotice, path) + notice.path_length);
}

}  // namespace leakgate::agent
