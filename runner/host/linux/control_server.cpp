#include "runner/host/control_server.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <map>
#include <string_view>
#include <system_error>

#include "common/control_protocol.h"
#include "common/region_layout.h"
#include "runner/base/descriptors.h"
#include "runner/base/linux/local_socket.h"
#include "runner/base/regular_file.h"
#include "runner/process/proc_files.h"
#include "runner/process/process_image.h"
#include "runner/process/process_tree.h"

namespace leakgate {
namespace {

// A process that finds no place here must wait, and other users may take places.
constexpr int kBacklog = 4096;
// So many connections are accepted before the accepted ones are served.
constexpr int kMostAtOnce = 128;

// Each client takes a descriptor of the runner's until it has sent its message.
constexpr std::size_t kFewestClients = 8;
constexpr std::size_t kMostClients = 128;
constexpr std::size_t kShareOfDescriptors = 8;
// So many clients of one user are served before it is another user's turn.
constexpr std::size_t kTurn = 8;
// How long to wait for those that have already connected when the server is to end.
constexpr std::chrono::seconds kClientPatience(2);
// An agent waits for 10 seconds, and a run's program for ever.
constexpr int kMostFailures = 100;
constexpr std::chrono::milliseconds kFailurePause(50);

Expected<std::string> NameOfControl() {
  std::uint64_t random[2] = {};
  if (::getrandom(random, sizeof(random), 0) != sizeof(random)) {
    return InconclusiveError(fmt::format("no random numbers to be had: {}", ErrnoText()));
  }
  return fmt::format("{}{}-{}-{:016x}{:016x}", kControlPrefix, ::getpid(), StartTimeOf(::getpid()),
                     random[0], random[1]);
}

// Returns a socket that holds `name`; an empty one on failure. It refuses all until it listens.
UniqueFd HoldName(const std::string& name) {
  UniqueFd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const AbstractAddress address(name);
  const bool holds = fd && ::bind(fd.get(), address.get(), address.size()) == 0;
  return holds ? std::move(fd) : UniqueFd();
}

Expected<UniqueFd> Listen(const std::string& name) {
  UniqueFd fd = HoldName(name);
  if (!fd || ::listen(fd.get(), kBacklog) != 0) {
    return InconclusiveError(fmt::format("cannot open the control socket: {}", ErrnoText()));
  }
  return fd;
}

constexpr std::chrono::milliseconds kShortPause(5);
// If there is no room for another client, the one whose place it would take has had this time to
// send its message.
constexpr std::chrono::milliseconds kTimeToSpeak(100);

bool IsForWantOfDescriptors(int error) { return error == EMFILE || error == ENFILE; }

std::size_t MostClients() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return kFewestClients;
  const auto descriptors = static_cast<std::size_t>(limit.rlim_cur);
  return std::clamp(descriptors / kShareOfDescriptors, kFewestClients, kMostClients);
}

std::string UnservedText(std::string_view why) {
  return fmt::format(
      "cannot answer it: {}; raise the limits on open files, memory and processes "
      "(ulimit -n, -v, -u)",
      why);
}

bool IsReadable(short revents) { return (revents & POLLIN) != 0; }

void Send(const UniqueFd& client, const HelloReply& reply) {
  const bool is_traced = reply.region_fd >= 0;
  const ControlAction action = is_traced ? ControlAction::kTrace : ControlAction::kStayOff;
  Answer answer{kControlMagic, static_cast<std::uint32_t>(action), reply.wants, reply.window};
  Packet packet(&answer, sizeof(answer));
  if (is_traced) packet.Attach(reply.region_fd);
  ::sendmsg(client.get(), packet.get(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

bool IsPossiblePid(int pid) {
  constexpr int kMostPids = 1 << 22;  // the kernel's PID_MAX_LIMIT
  return pid >= 0 && pid <= kMostPids;
}

// The first message of a process: a Hello or an ExecNotice, distinguished by their magic numbers.
struct Message {
  ExecNotice notice{};
  std::size_t bytes = 0;

  bool IsHello() const { return notice.magic == kControlMagic && bytes == sizeof(Hello); }
  // Returns whether all of an ExecNotice has come, with plausible content.
  bool IsNotice() const {
    constexpr std::size_t kHeader = offsetof(ExecNotice, path);
    return notice.magic == kExecMagic && bytes >= kHeader &&
           notice.path_length == bytes - kHeader && IsPossiblePid(notice.pid);
  }
  Hello AsHello() const {
    Hello hello{};
    std::memcpy(&hello, &notice, sizeof(hello));
    return hello;
  }
  // REQUIRES: IsNotice().
  ReportedExec AsExec(int sender) const {
    ReportedExec exec{.sender = sender,
                      .pid = notice.pid == 0 ? sender : notice.pid,
                      .starts = notice.event == static_cast<std::uint32_t>(ExecEvent::kStarts),
                      .leaves_agent = notice.leaves_agent != 0,
                      .window = notice.window};
    if (exec.starts) exec.path = ImageBehind({notice.path, notice.path_length});
    return exec;
  }
};

// Returns whether the error concerns one client only, so that the listener can go on.
bool IsOfThisClient(int error) {
  return error == EINTR || error == EAGAIN || error == ECONNABORTED;
}

}  // namespace

Expected<std::unique_ptr<ControlServer>> ControlServer::Start(ControlHandlers handlers) {
  LEAKGATE_TRY_ASSIGN(std::string name, NameOfControl());
  LEAKGATE_TRY_ASSIGN(UniqueFd listener, Listen(name));

  std::unique_ptr<ControlServer> server(new ControlServer);
  server->name_ = std::move(name);
  server->handlers_ = std::move(handlers);
  server->most_clients_ = MostClients();
  server->listener_ = std::move(listener);
  server->stop_ = UniqueFd(::eventfd(0, EFD_CLOEXEC));
  if (!server->stop_) return InconclusiveError(fmt::format("no event descriptor: {}", ErrnoText()));
  server->thread_ = std::thread([raw = server.get()] { raw->Serve(); });
  return server;
}

std::string ProgramOf(const ControlPeer& peer) { return ProgramOf(peer.pid); }

std::vector<std::string> ArgumentsOf(const ControlPeer& peer) { return ArgumentsOf(peer.pid); }

HelloReply ControlServer::AnswerFor(const ControlPeer& peer) { return handlers_.on_hello(peer); }

ControlServer::~ControlServer() {
  if (!thread_.joinable()) return;
  ::eventfd_write(stop_.get(), 1);
  thread_.join();
}

void ControlServer::Serve() {
  for (int failures = 0; failures < kMostFailures;) {
    try {
      if (AwaitEvent()) return ServeRemaining();
      (void)ServeClients();
      (void)AcceptAll();
      failures = 0;
    } catch (const std::exception& error) {  // no memory, or no descriptor, at the moment
      if (++failures == kMostFailures) GiveUp(error.what());
      std::this_thread::sleep_for(kFailurePause);
    }
  }
}

// Serves only the processes that have already connected: new ones might come for ever.
void ControlServer::ServeRemaining() {
  const Clock::time_point end = Clock::now() + kClientPatience;
  bool are_all = AcceptAll();
  while (Clock::now() < end) {
    const bool were_any = ServeClients();
    if (clients_.empty() && are_all) return;
    if (!were_any) std::this_thread::sleep_for(kShortPause);
    if (!are_all) are_all = AcceptAll();
  }
}

bool ControlServer::AwaitEvent() const {
  constexpr int kForEver = -1;
  std::vector<pollfd> waits = {{stop_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
  for (const Client& client : clients_) waits.push_back({client.socket.get(), POLLIN, 0});
  if (::poll(waits.data(), waits.size(), kForEver) < 0) {
    if (errno == EINTR) return false;
    throw std::system_error(errno, std::generic_category());
  }
  return IsReadable(waits[0].revents);
}

UniqueFd ControlServer::Accept() {
  const auto accept = [this] {
    return UniqueFd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  };
  if (!spare_) spare_ = UniqueFd(::eventfd(0, EFD_CLOEXEC));
  UniqueFd socket = accept();
  if (socket || !IsForWantOfDescriptors(errno)) return socket;
  if (clients_.empty()) {
    spare_.Reset();
  } else if (!ServeClients()) {
    if (!PauseOrDrop(Waits::kForAll)) {
      errno = EAGAIN;
      return {};
    }
  }
  return accept();
}

bool ControlServer::AcceptAll() {
  for (int i = 0; i < kMostAtOnce; ++i) {
    Client client{Accept(), {}, Clock::now()};
    if (!client.socket) {
      if (!IsOfThisClient(errno)) throw std::system_error(errno, std::generic_category());
      if (errno == EAGAIN) return true;
      continue;
    }
    ucred peer{};
    socklen_t bytes = sizeof(peer);
    if (::getsockopt(client.socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0) continue;
    client.peer = {peer.pid, peer.uid, peer.gid};
    if (!MayConnect(client.peer)) continue;
    clients_.push_back(std::move(client));
    while (clients_.size() >= most_clients_) {
      if (!ServeClients()) PauseOrDrop(Waits::kForOwnUser);
    }
  }
  return false;
}

// Root may launch a program that takes on another user's rights.
bool ControlServer::MayConnect(const ControlPeer& peer) {
  if (!IsThisUser(peer.uid) && ::geteuid() != 0) return false;
  if (!handlers_.is_served) return true;
  try {
    return handlers_.is_served(peer, name_);
  } catch (const std::exception& error) {
    NoteUnserved(peer, error);
    return false;
  }
}

bool ControlServer::ServeClients() {
  std::map<unsigned, std::size_t> served;  // by user
  const std::size_t removed = std::erase_if(clients_, [&](const Client& client) {
    std::size_t& of_user = served[client.peer.uid];
    if (of_user == kTurn || Serve(client) == Next::kWait) return false;
    ++of_user;
    return true;
  });
  return removed != 0;
}

// Many processes that begin at once have connected before the first of them sends its message.
// Other users, who may connect to be in the way, do not make them wait.
bool ControlServer::PauseOrDrop(Waits waits) {
  const auto client = clients_.begin() + OldestSilent();
  const bool may_wait = waits == Waits::kForAll || IsThisUser(client->peer.uid);
  if (!may_wait || Clock::now() - client->since >= kTimeToSpeak) {
    clients_.erase(client);
    return true;
  }
  std::this_thread::sleep_for(kShortPause);
  return false;
}

// REQUIRES: there is a client.
std::ptrdiff_t ControlServer::OldestSilent() const {
  const auto most_by = [&](const auto& key, const auto& counts) {
    std::map<decltype(key(clients_[0])), std::size_t> sizes;
    for (const Client& client : clients_) {
      if (counts(client)) ++sizes[key(client)];
    }
    return std::max_element(sizes.begin(), sizes.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; })
        ->first;
  };
  const auto user = most_by([](const Client& client) { return client.peer.uid; },
                            [](const Client&) { return true; });
  const auto is_of_user = [&](const Client& client) { return client.peer.uid == user; };
  const int pid = most_by([](const Client& client) { return client.peer.pid; }, is_of_user);
  const auto oldest = std::find_if(clients_.begin(), clients_.end(), [&](const Client& client) {
    return is_of_user(client) && client.peer.pid == pid;
  });
  return oldest - clients_.begin();
}

void ControlServer::NoteUnserved(const ControlPeer& peer, const std::exception& error) {
  if (handlers_.on_unserved) handlers_.on_unserved(peer, UnservedText(error.what()));
}

// Connected processes wait for an answer, and their tests with them. The kernel disconnects all of
// them when the listener is closed.
void ControlServer::GiveUp(const std::string& why) {
  listener_ = UniqueFd();
  listener_ = HoldName(name_);
  clients_.clear();
  if (!handlers_.on_failure) return;
  handlers_.on_failure(fmt::format("no further process could be traced: {}", UnservedText(why)));
}

// A descriptor that comes with a message is not received, so the kernel closes it.
ControlServer::Next ControlServer::Serve(const Client& client) {
  Message message;
  const ssize_t bytes =
      ::recv(client.socket.get(), &message.notice, sizeof(message.notice), MSG_DONTWAIT);
  if (bytes < 0 && (errno == EAGAIN || errno == EINTR)) return Next::kWait;
  message.bytes = bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
  try {
    if (message.IsNotice() && handlers_.on_exec) {
      const FileRights rights(client.peer.uid, client.peer.gid);
      if (rights.are_in_force()) handlers_.on_exec(message.AsExec(client.peer.pid));
    }
    if (!message.IsHello()) return Next::kClose;
    const Hello hello = message.AsHello();
    ControlPeer peer = client.peer;
    peer.is_forked = hello.from == static_cast<std::uint32_t>(HelloFrom::kForked);
    peer.window = hello.window;
    const bool is_ours = hello.layout_version == kLayoutVersion;
    Send(client.socket, is_ours ? handlers_.on_hello(peer) : HelloReply{});
  } catch (const std::exception& error) {  // no memory for a region, or no thread
    if (message.IsHello()) Send(client.socket, {});
    NoteUnserved(client.peer, error);
  }
  return Next::kClose;
}

namespace {

bool HasEnded(int pid) {
  constexpr int kNoSignal = 0;
  return ::kill(pid, kNoSignal) != 0 && errno == ESRCH;
}

}  // namespace

bool IsThisUser(unsigned uid) { return uid == ::geteuid(); }

bool IsControlName(const std::string& name) {
  const std::string sockets = ReadProcFile("/proc/net/unix").value_or("");
  return !name.empty() && sockets.find(fmt::format(" @{}\n", name)) != std::string::npos;
}

bool IsOfThisRun(const ControlPeer& peer, const std::string& control_name) {
  if (IsBelow(peer.pid, ::getpid())) return true;
  if (!IsThisUser(peer.uid)) return false;
  return CarriesMark(peer.pid, fmt::format("{}={}", kControlVariable, control_name)) ||
         HasEnded(peer.pid);
}

}  // namespace leakgate
