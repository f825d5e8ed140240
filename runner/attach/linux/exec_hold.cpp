#include "runner/attach/linux/exec_hold.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/fanotify.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "runner/attach/linux/exec_call.h"
#include "runner/attach/linux/exec_catch.h"
#include "runner/attach/linux/exec_watchdog.h"
#include "runner/base/linux/local_socket.h"
#include "runner/base/linux/proc_place.h"
#include "runner/process/image_inspection.h"
#include "runner/process/linux/open_proc_file.h"
#include "runner/process/proc_files.h"

namespace leakgate {
namespace {

constexpr std::uint64_t kAsked = FAN_OPEN_EXEC_PERM;
// If the kernel cannot open a descriptor for the question, it refuses the exec. So few are open at
// once.
constexpr std::size_t kMostAtOnce = 32;
constexpr std::size_t kMostWaiting = 8192;
constexpr std::size_t kMostWaitingOfUser = 2048;
// Its socket holds about 140 questions. Those that it cannot answer at once it asks again and
// again (exec_catch.h).
constexpr std::size_t kMostAskedOfWorker = 64;
constexpr std::size_t kMostUsers = 32;    // each with one worker
constexpr std::size_t kMostGivenUp = 64;  // workers that the kernel cannot end yet
constexpr std::size_t kOtherDescriptors = 128;

constexpr std::chrono::milliseconds kWorkerPatience(1000);
constexpr std::chrono::milliseconds kLate(200);
constexpr int kMostLate = 5;
constexpr std::chrono::seconds kLateWindow(60);
constexpr std::chrono::seconds kBarred(30);
constexpr std::chrono::seconds kIdle(10);  // after which an idle worker ends
constexpr std::chrono::seconds kMarkerPatience(5);
constexpr std::chrono::seconds kBeginPatience(8);

constexpr const char* kReleased =
    "it began before it could be looked at: a program of this user kept leakgate waiting, so this "
    "user's programs are not held for a while";
constexpr const char* kNoWorker =
    "it began before it could be looked at: too many programs, of too many users, begin at once";

// Since Linux 6.8 the kernel opens the file before it locks the process against ptrace.
Expected<void> RequireKernel() {
  utsname name{};
  ::uname(&name);
  int major = 0;
  int minor = 0;
  (void)std::sscanf(name.release, "%d.%d", &major, &minor);  // NOLINT(cert-err34-c)
  if (std::pair(major, minor) >= std::pair(6, 8)) return {};
  return InconclusiveError(
      fmt::format("Linux {} does not let a process be traced that is held in execve; Linux 6.8 "
                  "and later do",
                  name.release));
}

// Returns the user who is responsible for what the process does: of a set-uid program, the user who
// has started it.
std::optional<unsigned> RealUserOf(int tid) {
  const std::string ids = StatusField(tid, tid, "Uid");  // real, effective, saved, of file systems
  if (ids.empty()) return std::nullopt;
  return static_cast<unsigned>(std::strtoul(ids.c_str(), nullptr, 10));
}

// Returns the dynamic linkers of the holder's own root.
std::set<FileId> SystemsLinkers() {
  constexpr const char* kPlaces[] = {"/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1",
                                     "/lib/ld-linux.so.2",          "/libx32/ld-linux-x32.so.2",
                                     "/lib/ld-musl-x86_64.so.1",    "/lib/ld-musl-aarch64.so.1"};
  std::set<FileId> linkers;
  for (const char* const place : kPlaces) {
    if (const auto facts = StatPlaceOf(place)) linkers.insert(IdOf(*facts));
  }
  return linkers;
}

// Raises the limit on this process's descriptors to what it needs, if it can. Returns the limit.
std::size_t RaiseDescriptorLimit() {
  constexpr rlim_t kNeeded = 2 * kMostWaiting;
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const rlimit raised{std::max(limit.rlim_cur, kNeeded), std::max(limit.rlim_max, kNeeded)};
  if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  return limit.rlim_cur;
}

bool AddTo(const UniqueFd& events, const UniqueFd& fd, std::uint32_t what) {
  epoll_event event{what, {}};
  event.data.fd = fd.get();
  return ::epoll_ctl(events.get(), EPOLL_CTL_ADD, fd.get(), &event) == 0;
}

bool SendText(const UniqueFd& socket, std::string_view text) {
  return ::send(socket.get(), text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
}

}  // namespace

Expected<ExecHold> ExecHold::Open(ExecHoldHandlers handlers, WorkerFactory workers,
                                  std::string orders) {
  LEAKGATE_TRY(RequireKernel());
  ExecHold hold(std::move(handlers), std::move(workers), std::move(orders));
  LEAKGATE_TRY(hold.Begin());
  return hold;
}

// O_NONBLOCK: files are opened without waiting for a lease on them (fcntl(2), F_SETLEASE).
Expected<void> ExecHold::Begin() {
  const std::size_t descriptors = RaiseDescriptorLimit();
  most_waiting_ =
      std::min(kMostWaiting, descriptors > kOtherDescriptors ? descriptors - kOtherDescriptors : 0);
  asked_ = UniqueFd(::fanotify_init(
      FAN_CLASS_CONTENT | FAN_CLOEXEC | FAN_NONBLOCK | FAN_UNLIMITED_QUEUE | FAN_REPORT_TID,
      O_RDONLY | O_CLOEXEC | O_LARGEFILE | O_NONBLOCK));
  if (!asked_) {
    return InconclusiveError(fmt::format(
        "the kernel does not let leakgate hold programs that begin (fanotify): {}; in a container "
        "it takes --cap-add=SYS_ADMIN",
        ErrnoText()));
  }
  if (::fanotify_mark(asked_.get(), FAN_MARK_ADD, kAsked, AT_FDCWD, "/") != 0 && errno == EINVAL) {
    return InconclusiveError(
        "the kernel was built without CONFIG_FANOTIFY_ACCESS_PERMISSIONS, so no program can be "
        "held when it begins");
  }
  ::fanotify_mark(asked_.get(), FAN_MARK_FLUSH, 0, AT_FDCWD, "/");

  linkers_ = SystemsLinkers();
  const Expected<void> watched = StartWatchdog();
  if (!watched) return watched;
  // The machine waits for this process, so it must wait for no page.
  ::mlockall(MCL_CURRENT | MCL_FUTURE);
  sigevent end{};
  end.sigev_notify = SIGEV_SIGNAL;
  end.sigev_signo = SIGKILL;
  timer_t timer{};
  if (::timer_create(CLOCK_MONOTONIC, &end, &timer) != 0) {
    return InconclusiveError(fmt::format("cannot make a timer: {}", ErrnoText()));
  }
  timer_ = timer;

  events_ = UniqueFd(::epoll_create1(EPOLL_CLOEXEC));
  mounts_ = OpenProcFile(::getpid(), "mountinfo");
  if (!events_ || !mounts_ || !AddTo(events_, asked_, EPOLLIN)) {
    return InconclusiveError(fmt::format("cannot wait for programs: {}", ErrnoText()));
  }
  const Clock::time_point deadline = Clock::now() + kBeginPatience;
  do {
    Serve();
    pollfd wait{events_.get(), POLLIN, 0};
    ::poll(&wait, 1, 10);
  } while ((have_mounts_changed_ || marker_) && Clock::now() < deadline);
  return {};
}

Expected<void> ExecHold::StartWatchdog() {
  const UniqueFd memory(::memfd_create("leakgate-progress", MFD_CLOEXEC));
  const bool is_made = memory && ::ftruncate(memory.get(), sizeof(HoldProgress)) == 0;
  if (!is_made) {
    return InconclusiveError(
        fmt::format("cannot start the watchdog of held programs: {}", ErrnoText()));
  }
  LEAKGATE_TRY_ASSIGN(Mapping mapped,
                      Mapping::Map(memory, 0, sizeof(HoldProgress), MappingAccess::kReadWrite));
  progress_ = std::move(mapped);
  return ForkWatchdog({.asked = asked_,
                       .progress = progress(),
                       .most_files = static_cast<int>(most_waiting_ + kOtherDescriptors)});
}

HoldProgress& ExecHold::progress() const {
  return *reinterpret_cast<HoldProgress*>(progress_.data());
}

void ExecHold::KeepAlive() const {
  const itimerspec value{{0, 0}, {kMostSilence.count(), 0}};
  ::timer_settime(timer_, 0, &value, nullptr);
}

std::chrono::milliseconds ExecHold::TimeToWait() const {
  constexpr std::chrono::milliseconds kSoon(50);
  const bool is_busy = !waiting_.empty() || marker_ ||
                       std::any_of(users_.begin(), users_.end(),
                                   [](const auto& entry) { return entry.second.seized != 0; });
  return is_busy ? kSoon : kMostPause;
}

void ExecHold::Serve() {
  progress().steps.fetch_add(1, std::memory_order_relaxed);
  KeepAlive();
  Answer();
  HearWorkers();
  GiveUpSlowWorkers();
  WatchMounts();
  const std::uint64_t allowed = progress().allowed.exchange(0, std::memory_order_relaxed);
  if (allowed != 0) handlers_.on_unseen(allowed);
  progress().steps.fetch_add(1, std::memory_order_relaxed);
}

void ExecHold::Change(std::string orders) {
  orders_ = std::move(orders);
  for (const auto& [uid, user] : users_) (void)SendText(user.worker.socket, orders_);
}

void ExecHold::Answer() {
  alignas(fanotify_event_metadata) char events[kMostAtOnce * sizeof(fanotify_event_metadata)];
  constexpr int kMostReads = 16;  // before workers are heard again
  for (int i = 0; i < kMostReads; ++i) {
    const ssize_t bytes = ::read(asked_.get(), events, sizeof(events));
    if (bytes <= 0) return;
    std::size_t left = static_cast<std::size_t>(bytes);
    for (auto* event = reinterpret_cast<fanotify_event_metadata*>(events);
         FAN_EVENT_OK(event, left); event = FAN_EVENT_NEXT(event, left)) {
      if (event->fd < 0) continue;  // the kernel's own queue
      UniqueFd file(event->fd);
      if ((event->mask & kAsked) != 0) Decide(event->pid, std::move(file));
    }
  }
}

// A thread with the number 0 is in a PID namespace that is not visible here.
void ExecHold::Decide(int tid, UniqueFd file) {
  const std::optional<unsigned> uid = tid == 0 ? std::nullopt : RealUserOf(tid);
  if (!uid) return Allow(file.get());
  if (IsDynamicLinker(PathOfDescriptor(file.get()))) {
    struct stat facts {};
    const bool is_systems = ::fstat(file.get(), &facts) == 0 && linkers_.contains(IdOf(facts));
    if (is_systems) IgnoreFile(file.get());
    return Allow(file.get());
  }
  if (!handlers_.is_wanted_user(*uid)) return ReleaseProgram({std::move(file), tid, *uid}, "");
  Ask(*uid, tid, std::move(file));
}

void ExecHold::Ask(unsigned uid, int tid, UniqueFd file) {
  User* const user = waiting_.size() < most_waiting_ ? WorkerOf(uid) : nullptr;
  if (user == nullptr || user->waiting >= kMostWaitingOfUser) {
    return ReleaseProgram({std::move(file), tid, uid}, IsBarred(uid) ? kReleased : kNoWorker);
  }
  if (user->waiting == 0 && user->seized == 0) user->moved = Clock::now();
  ++user->waiting;
  waiting_.emplace(++last_ask_, Waiting{std::move(file), tid, uid});
  user->queued.push_back(last_ask_);
  AskQueued(*user);
}

// If there is no room in the socket, the worker has ended, or will answer.
void ExecHold::AskQueued(User& user) {
  for (; !user.queued.empty() && user.asked < kMostAskedOfWorker; ++user.asked) {
    const Waiting& waiting = waiting_.at(user.queued.front());
    ExecQuestion question{user.queued.front(), waiting.tid};
    Packet packet(&question, sizeof(question));
    packet.Attach(waiting.file.get());
    if (::sendmsg(user.worker.socket.get(), packet.get(), MSG_DONTWAIT | MSG_NOSIGNAL) < 0) return;
    user.queued.pop_front();
  }
}

ExecHold::User* ExecHold::WorkerOf(unsigned uid) {
  const auto found = users_.find(uid);
  if (found != users_.end()) return &found->second;
  if (IsBarred(uid) || (given_up_.size() >= kMostGivenUp && uid != ::geteuid())) return nullptr;
  if (users_.size() >= kMostUsers && !EndIdleWorker()) return nullptr;
  std::optional<WorkerFactory::Worker> worker = workers_.Start();
  if (!worker || !SendText(worker->socket, orders_) || !AddTo(events_, worker->socket, EPOLLIN)) {
    return nullptr;
  }
  return &users_.emplace(uid, User{.worker = *std::move(worker), .moved = Clock::now()})
              .first->second;
}

void ExecHold::Allow(int file) const {
  const fanotify_response response{file, FAN_ALLOW};
  // The thread was killed meanwhile.
  if (::write(asked_.get(), &response, sizeof(response)) < 0) return;
}

void ExecHold::ReleaseProgram(const Waiting& waiting, const std::string& problem) {
  const std::string path = PathOfDescriptor(waiting.file.get());
  Allow(waiting.file.get());
  if (!handlers_.is_wanted_file(path)) {
    if (!problem.empty()) handlers_.on_unseen(1);
    return;
  }
  handlers_.on_missed(waiting.tid, path, waiting.uid, problem);
}

// Each program asks a second time, for its dynamic linker. Nobody needs that question, since the
// program's own arguments have already been decided about. In a mount namespace of its own, another
// user may give that name to any file: such a file is allowed only this once.
void ExecHold::IgnoreFile(int file) const {
  ::fanotify_mark(asked_.get(), FAN_MARK_ADD | FAN_MARK_IGNORED_MASK | FAN_MARK_IGNORED_SURV_MODIFY,
                  kAsked, file, nullptr);
}

void ExecHold::HearWorkers() {
  for (auto it = users_.begin(); it != users_.end();) {
    const auto next = std::next(it);
    if (Hear(it->second)) {
      AskQueued(it->second);
    } else {
      const unsigned uid = it->first;
      users_.erase(it);
      ReleaseUser(uid, kNoWorker);
    }
    it = next;
  }
  std::erase_if(given_up_, [](const GivenUp& entry) {
    char byte = 0;
    const ssize_t bytes = ::recv(entry.worker.socket.get(), &byte, sizeof(byte), MSG_DONTWAIT);
    return bytes == 0 || (bytes < 0 && errno != EAGAIN);
  });
}

bool ExecHold::Hear(User& user) {
  std::string text(kMostExecNotice, '\0');
  for (;;) {
    const ssize_t bytes = ::recv(user.worker.socket.get(), text.data(), text.size(), MSG_DONTWAIT);
    if (bytes < 0) return errno == EAGAIN || errno == EINTR;
    if (bytes == 0) return false;
    user.moved = Clock::now();
    user.is_late = false;
    ExecAnswer answer;
    if (static_cast<std::size_t>(bytes) != sizeof(answer)) {
      handlers_.on_notice({text.data(), static_cast<std::size_t>(bytes)});
      continue;
    }
    std::memcpy(&answer, text.data(), sizeof(answer));
    user.seized = answer.seized;
    const auto found = waiting_.find(answer.number);
    if (found == waiting_.end()) continue;
    Allow(found->second.file.get());
    waiting_.erase(found);
    --user.waiting;
    --user.asked;
  }
}

void ExecHold::ReleaseUser(unsigned uid, const std::string& problem) {
  for (auto it = waiting_.begin(); it != waiting_.end();) {
    if (it->second.uid == uid) {
      ReleaseProgram(it->second, problem);
      it = waiting_.erase(it);
    } else {
      ++it;
    }
  }
}

void ExecHold::GiveUpSlowWorkers() {
  const Clock::time_point now = Clock::now();
  std::erase_if(barred_, [now](const auto& entry) { return now > entry.second; });
  for (auto it = users_.begin(); it != users_.end();) {
    const auto next = std::next(it);
    User& user = it->second;
    const bool has_work = user.waiting != 0 || user.seized != 0;
    const auto still = now - user.moved;
    if (has_work && still > kLate && !user.is_late) NoteLate(user);
    if (has_work && (still > kWorkerPatience || user.late >= kMostLate)) {
      const unsigned uid = it->first;
      workers_.Kill(user.worker.number);
      barred_[uid] = now + kBarred;
      User given_up = std::move(user);
      users_.erase(it);
      ReleaseUser(uid, kReleased);
      ::epoll_ctl(events_.get(), EPOLL_CTL_DEL, given_up.worker.socket.get(), nullptr);
      given_up_.push_back({std::move(given_up.worker), uid});
      handlers_.on_barred(uid);
    } else if (!has_work && still > kIdle) {
      users_.erase(it);
    }
    it = next;
  }
}

// Ends the worker that has been idle for longest. Returns false if all have work.
bool ExecHold::EndIdleWorker() {
  auto oldest = users_.end();
  for (auto it = users_.begin(); it != users_.end(); ++it) {
    const User& user = it->second;
    if (user.waiting != 0 || user.seized != 0) continue;
    if (oldest == users_.end() || user.moved < oldest->second.moved) oldest = it;
  }
  if (oldest == users_.end()) return false;
  users_.erase(oldest);
  return true;
}

void ExecHold::NoteLate(User& user) {
  const Clock::time_point now = Clock::now();
  if (now - user.first_late > kLateWindow) user.late = 0;
  if (user.late == 0) user.first_late = now;
  ++user.late;
  user.is_late = true;
}

bool ExecHold::IsBarred(unsigned uid) const {
  return barred_.contains(uid) ||
         std::any_of(given_up_.begin(), given_up_.end(),
                     [uid](const GivenUp& entry) { return entry.uid == uid; });
}

// A worker finds out which mounts there are, since a user with many of them may make that take
// long.
void ExecHold::WatchMounts() {
  if (marker_) HearMarker();
  if (marker_ || !have_mounts_changed_) return;
  std::optional<WorkerFactory::Worker> worker = workers_.Start();
  if (!worker || !SendText(worker->socket, kMountsRequest)) return;
  (void)AddTo(events_, worker->socket, EPOLLIN);
  marker_ = Marker{*std::move(worker), Clock::now()};
  have_mounts_changed_ = false;
}

void ExecHold::HearMarker() {
  for (;;) {
    char byte = 0;
    Packet packet(&byte, sizeof(byte));
    packet.MakeRoom();
    const ssize_t bytes =
        ::recvmsg(marker_->worker.socket.get(), packet.get(), MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (bytes < 0 && (errno == EAGAIN || errno == EINTR)) break;
    const UniqueFd root(bytes > 0 ? packet.Attached() : -1);
    if (!root) return EndMarker();
    ::fanotify_mark(asked_.get(), FAN_MARK_ADD | FAN_MARK_FILESYSTEM, kAsked, root.get(), nullptr);
  }
  if (Clock::now() - marker_->since > kMarkerPatience) EndMarker();
}

void ExecHold::EndMarker() {
  workers_.Kill(marker_->worker.number);
  marker_.reset();
}

}  // namespace leakgate
