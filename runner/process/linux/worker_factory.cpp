#include "runner/process/linux/worker_factory.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <map>

#include "runner/base/linux/local_socket.h"
#include "runner/base/linux/proc_place.h"
#include "runner/process/process_image.h"

namespace leakgate {
namespace {

struct Order {
  enum Kind : std::uint64_t { kStart, kKill };
  Kind kind = kStart;
  std::uint64_t number = 0;
};

class Factory {
 public:
  Factory(UniqueFd orders, const char* name, const WorkerFactory::Work& work)
      : orders_(std::move(orders)), name_(name), work_(work) {}

  void Serve() {
    ::signal(SIGCHLD, SIG_IGN);  // the kernel forgets workers that have ended
    for (;;) {
      Order order;
      Packet packet(&order, sizeof(order));
      packet.MakeRoom();
      const ssize_t bytes = ::recvmsg(orders_.get(), packet.get(), MSG_CMSG_CLOEXEC);
      if (bytes < 0 && errno == EINTR) continue;
      if (bytes != sizeof(order)) return;
      UniqueFd socket(packet.Attached());
      std::erase_if(workers_, [](const auto& worker) { return HasEnded(worker.second); });
      if (order.kind == Order::kKill) {
        KillWorker(order.number);
      } else if (socket) {
        ForkWorker(order.number, std::move(socket));
      }
    }
  }

 private:
  void KillWorker(std::uint64_t number) const {
    const auto found = workers_.find(number);
    if (found == workers_.end()) return;
    ::syscall(SYS_pidfd_send_signal, found->second.get(), SIGKILL, nullptr, 0);
  }

  // If no worker can be forked, the other end of the socket is closed.
  void ForkWorker(std::uint64_t number, UniqueFd socket) {
    const pid_t factory = ::getpid();
    const pid_t pid = ::fork();
    if (pid > 0) workers_.insert_or_assign(number, WatchEnd(pid));
    if (pid != 0) return;
    ResetForkedProcess(name_, socket, factory);
    try {
      work_(socket);
    } catch (const std::exception&) {  // its socket is closed
    }
    ::_exit(0);
  }

  const UniqueFd orders_;
  const char* const name_;
  const WorkerFactory::Work& work_;
  std::map<std::uint64_t, UniqueFd> workers_;  // each readable once that worker has ended
};

}  // namespace

void ResetForkedProcess(const char* name, const UniqueFd& kept, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(0);
  ::prctl(PR_SET_NAME, name);
  const auto [first, last] = std::minmax({kept.get(), OwnProcDescriptor()});
  for (const auto& [begin, end] :
       {std::pair(3, first - 1), std::pair(std::max(3, first + 1), last - 1)}) {
    if (begin <= end) ::close_range(static_cast<unsigned>(begin), static_cast<unsigned>(end), 0);
  }
  ::close_range(static_cast<unsigned>(last + 1), ~0U, 0);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGCHLD, SIG_DFL);
}

std::pair<UniqueFd, UniqueFd> ConnectedSockets() {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return {};
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

Expected<WorkerFactory> WorkerFactory::Fork(const char* name, const Work& work) {
  auto [near, far] = ConnectedSockets();
  const pid_t parent = ::getpid();
  const pid_t pid = near ? ::fork() : -1;
  if (pid < 0) {
    return InconclusiveError(
        fmt::format("cannot start a process that reads other users' memory: {}", ErrnoText()));
  }
  if (pid == 0) {
    ResetForkedProcess(name, far, parent);
    try {
      Factory(std::move(far), name, work).Serve();
    } catch (const std::exception&) {  // the caller learns it from its socket
    }
    ::_exit(0);
  }
  return WorkerFactory(std::move(near), pid);
}

// The factory never blocks, so it ends at once.
WorkerFactory::~WorkerFactory() {
  if (pid_ == 0) return;
  socket_.Reset();
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::optional<WorkerFactory::Worker> WorkerFactory::Start() {
  auto [near, far] = ConnectedSockets();
  if (!near) return std::nullopt;
  Order order{Order::kStart, ++last_number_};
  Packet packet(&order, sizeof(order));
  packet.Attach(far.get());
  if (::sendmsg(socket_.get(), packet.get(), MSG_DONTWAIT | MSG_NOSIGNAL) < 0) return std::nullopt;
  return Worker{std::move(near), order.number};
}

void WorkerFactory::Kill(std::uint64_t number) const {
  const Order order{Order::kKill, number};
  (void)::send(socket_.get(), &order, sizeof(order), MSG_DONTWAIT | MSG_NOSIGNAL);
}

}  // namespace leakgate
