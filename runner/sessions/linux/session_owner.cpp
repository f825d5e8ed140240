#include "runner/sessions/session_owner.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <new>
#include <system_error>
#include <thread>

#include "runner/base/descriptors.h"
#include "runner/base/linux/proc_place.h"
#include "runner/host/message_socket.h"
#include "runner/host/named_sockets.h"
#include "runner/process/proc_files.h"
#include "runner/sessions/linux/exec_holder.h"
#include "runner/sessions/linux/other_users_processes.h"
#include "runner/sessions/linux/start_watch.h"
#include "runner/sessions/session_messages.h"
#include "runner/sessions/session_processes.h"

namespace leakgate {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kCommand = "the command";

class Owner {
 public:
  // `holder` is given only if the session's reach is the system.
  Owner(const SessionStart& start, UniqueFd listener,
        std::unique_ptr<OtherUsersProcesses> other_users, std::optional<ExecHolder> holder)
      : start_(start),
        other_users_(std::move(other_users)),
        holder_(std::move(holder)),
        listener_(std::move(listener)),
        processes_({start.scope.images, {}, start.scope.users},
                   {start.stack_depth, start.stack_events}, OwnDescriptorRoom(), start.recording,
                   [this](int pid) { return other_users_->Describe(pid); }) {}

  Expected<void> Open() {
    LEAKGATE_TRY_ASSIGN(
        auto server,
        ControlServer::Start(
            {.on_hello = [this](const ControlPeer& peer) { return processes_.OnHello(peer); },
             .is_served = [this](const ControlPeer& peer,
                                 const std::string&) { return processes_.MayServe(peer); },
             .on_unserved = [this](const ControlPeer& peer,
                                   const std::string& why) { processes_.NoteUnserved(peer, why); },
             .on_failure = [this](const std::string& why) { processes_.NoteFailure(why); }}));
    control_ = std::move(server);
    for (const int pid : start_.scope.pids) {
      const Expected<void> enabled = Enable(pid);
      if (enabled) continue;
      DisableAll();
      return enabled;
    }
    if (start_.reach != SessionReach::kBelow) WatchStarts();
    if (start_.ring.IsAsked()) ring_.emplace(start_.name, start_.ring, processes_);
    return {};
  }

  // Called before a command is told that there is no session, so that it finds the name free.
  void ReleaseName() { listener_.Reset(); }

  // Serves until it is told to stop. `signals` is readable once a signal asks the process to end.
  void Serve(const UniqueFd& signals) {
    while (!is_stopping_) {
      pollfd waits[] = {{listener_.get(), POLLIN, 0}, {signals.get(), POLLIN, 0}};
      if (::poll(waits, 2, TimeToWait()) < 0) {  // interrupted, or no memory for a moment
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        continue;
      }
      if (waits[1].revents != 0 || IsOver()) break;
      try {
        processes_.LookAtEnded();
        if (waits[0].revents != 0) ServeOne();
      } catch (const std::bad_alloc&) {  // the command gets no answer, and the session continues
      }
    }
    if (is_stopping_) return;
    DisableAll();
    (void)processes_.FinishRecordings();
  }

 private:
  void ServeOne() {
    const UniqueFd client = AcceptClient(listener_);
    if (!client) return;
    const Expected<SocketMessage> request = ReceiveMessage(client, kCommand);
    if (!request) return;
    Expected<SocketMessage> answer = AnswerOrError(request->body);
    if (!answer) answer = SocketMessage{ToJson(answer.error())};
    (void)SendMessage(client, *answer, kCommand);  // the command may have ended
  }

  // If a request cannot be answered for lack of memory or threads, only that command fails.
  Expected<SocketMessage> AnswerOrError(const Json& request) {
    try {
      return Answer(request);
    } catch (const std::exception& error) {
      return InconclusiveError(
          fmt::format("the session's owner cannot answer: {}; raise its limits on memory and "
                      "processes (ulimit -v, -u)",
                      error.what()));
    }
  }

  Expected<SocketMessage> Answer(const Json& request) {
    const std::string what = MemberOr(request, "do", std::string());
    if (what == "query") return SocketMessage{ToJson(Status())};
    if (what == "update") return Update(request);
    if (what == "region") return Region(request);
    if (what == "stop") return Stop();
    return UsageError(
        fmt::format("the session's owner does not know '{}'; is it of another "
                    "version? stop it: leakgate session stop {}",
                    what, start_.name));
  }

  using Clock = std::chrono::steady_clock;

  bool IsOver() const { return start_.length && Clock::now() - started_ >= *start_.length; }

  // Returns the milliseconds until the session ends by itself, or must check its ended processes.
  int TimeToWait() const {
    constexpr std::chrono::milliseconds kMost(1000);
    if (!start_.length) return static_cast<int>(kMost.count());
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(*start_.length - (Clock::now() - started_));
    return static_cast<int>(std::clamp(left, std::chrono::milliseconds(0), kMost).count());
  }

  // If programs cannot be held, they are searched for.
  void WatchStarts() {
    SessionScope scope = processes_.scope();
    std::string why_not_held;
    if (holder_) {
      const Expected<void> holds =
          holder_->Begin({.control = control_->name(), .agent = start_.agent, .scope = scope});
      if (!holds) {
        why_not_held = holds.error().message;
        holder_.reset();
      }
    }
    watch_.emplace(
        StartWatchSetup{.reach = start_.reach,
                        .users = scope.users,
                        .control = control_->name(),
                        .agent = start_.agent,
                        .describe = [this](int pid) { return other_users_->Describe(pid); },
                        .enable = [this](int pid) { return Attach(pid, IfItAsks::kLeaveIt); }},
        processes_, std::move(holder_), std::move(why_not_held));
    holder_.reset();
  }

  Expected<void> Attach(int pid, IfItAsks if_it_asks) {
    return other_users_->Enable({.pid = pid, .control = control_->name(), .agent = start_.agent},
                                if_it_asks);
  }

  // `pid` already runs, with or without the agent, or is about to begin.
  Expected<void> Enable(int pid) {
    processes_.AddPid(pid);
    if (processes_.IsTraced(pid)) return {};
    Expected<void> attached = Attach(pid, IfItAsks::kAttach);
    if (!attached) processes_.DropPid(pid);
    return attached;
  }

  // Stops the tracing of all processes. Returns a line for each that could not be reached, with the
  // reason: they stay traced until they end.
  std::vector<std::string> DisableAll() {
    processes_.Close();
    watch_.reset();
    ring_.reset();  // takes its last snapshots while the processes are still traced
    AwaitStarted();
    const std::vector<int> pids = processes_.TracedPids();
    std::vector<std::string> problems(pids.size());
    std::atomic<std::size_t> next{0};
    const auto disable = [&] {
      for (std::size_t i = next++; i < pids.size(); i = next++) {
        const Expected<void> disabled = other_users_->Disable(pids[i]);
        if (disabled || HasNoMemory(pids[i]) || !processes_.IsTraced(pids[i])) continue;
        problems[i] = disabled.error().message;
      }
    };
    // Most of the time a worker waits for its process to stop, so several work at once.
    std::vector<std::thread> workers;
    try {
      while (workers.size() < std::min(pids.size(), MostWorkers())) workers.emplace_back(disable);
      // The threads that were started do the work, together with this one.
    } catch (const std::system_error&) {
    }
    disable();
    for (std::thread& worker : workers) worker.join();
    std::erase(problems, "");
    return problems;
  }

  static std::size_t MostWorkers() {
    constexpr std::size_t kMost = 16;
    constexpr std::size_t kDescriptorsOfOne = 4;
    return std::clamp(OwnDescriptorRoom().reserved / kDescriptorsOfOne, std::size_t{1}, kMost);
  }

  // Waits for agents that have a region and have not started: until then they cannot be stopped.
  void AwaitStarted() const {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    while (processes_.IsAnyStarting() && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  // Gives up the name before the answer, so that the command finds it free.
  SocketMessage Stop() {
    is_stopping_ = true;
    std::vector<std::string> problems = DisableAll();
    SessionProcesses::Recordings recordings = processes_.FinishRecordings();
    SocketMessage answer{{{"problems", std::move(problems)},
                          {"recordings", ToJson(recordings.files)},
                          {"unwritten", std::move(recordings.problems)},
                          {"failure", processes_.failure()}}};
    ReleaseName();
    return answer;
  }

  // Uses the current wall clock, which may have been set since the session began.
  std::int64_t ExpirySeconds() const {
    if (!start_.length) return 0;
    const auto left = *start_.length - (Clock::now() - started_);
    return std::chrono::system_clock::to_time_t(
        std::chrono::round<std::chrono::seconds>(std::chrono::system_clock::now() + left));
  }

  SessionStatus Status() {
    const SessionProcesses::Ended ended = processes_.ended();
    return {.name = start_.name,
            .owner_pid = ::getpid(),
            .begin_seconds = std::chrono::system_clock::to_time_t(begin_),
            .control = control_->name(),
            .stack_depth = start_.stack_depth,
            .stack_events = start_.stack_events,
            .scope = processes_.scope(),
            .watch = watch_ ? watch_->Status() : WatchStatus{},
            .ring = ring_ ? ring_->Status() : RingStatus{},
            .expires_seconds = ExpirySeconds(),
            .forgotten = ended.forgotten,
            .kept_bytes = ended.bytes,
            .most_kept_bytes = ended.most_bytes,
            .failure = processes_.failure(),
            .untraced = processes_.untraced(),
            .processes = processes_.Query()};
  }

  Expected<SocketMessage> Update(const Json& request) {
    const Expected<SessionScope> drop = ScopeFromJson(MemberOr(request, "drop", Json()));
    const Expected<SessionScope> add = ScopeFromJson(MemberOr(request, "add", Json()));
    if (!drop) return Unexpected(drop.error());
    if (!add) return Unexpected(add.error());
    for (const ImageSelector& image : drop->images) {
      if (!processes_.DropImage(image)) return NotThere("image", TextOf(image));
    }
    for (const int pid : drop->pids) {
      if (!processes_.DropPid(pid)) return NotThere("PID", std::to_string(pid));
      LEAKGATE_TRY(processes_.IsTraced(pid) ? other_users_->Disable(pid) : Expected<void>{});
    }
    for (const ImageSelector& image : add->images) processes_.AddImage(image);
    if (watch_) watch_->NoteChange();
    for (const int pid : add->pids) {
      LEAKGATE_TRY(Enable(pid));
    }
    return SocketMessage{ToJson(Status())};
  }

  Unexpected NotThere(std::string_view kind, const std::string& what) const {
    return UsageError(
        fmt::format("the session '{0}' does not name the {1} {2}; see leakgate "
                    "session query {0}",
                    start_.name, kind, what));
  }

  Expected<SocketMessage> Region(const Json& request) {
    const int pid = MemberOr(request, "pid", 0);
    std::optional<ProcessRegion> found =
        processes_.RegionOf(pid, MemberOr(request, "generation", 0U));
    if (found) return SocketMessage{ToJson(found->status), std::move(found->region)};
    return UsageError(
        fmt::format("the session '{}' does not trace PID {}, or no longer keeps what it had",
                    start_.name, pid));
  }

  const SessionStart& start_;
  const std::chrono::system_clock::time_point begin_ = std::chrono::system_clock::now();
  const Clock::time_point started_ = Clock::now();
  const std::unique_ptr<OtherUsersProcesses> other_users_;
  std::optional<ExecHolder> holder_;  // moved to the watch when that starts
  UniqueFd listener_;
  SessionProcesses processes_;
  std::unique_ptr<ControlServer> control_;
  std::optional<StartWatch> watch_;
  std::optional<SnapshotRing> ring_;
  bool is_stopping_ = false;
};

// Releases the command's terminal, descriptors and directory, so that the owner keeps none of them.
void DetachFromCommand(const UniqueFd& listener, const UniqueFd& ready) {
  ::setsid();
  if (::chdir("/") != 0) {  // harmless: the directory's file system cannot be unmounted
  }
  const UniqueFd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  for (int fd = 0; fd < 3; ++fd) ::dup2(nothing.get(), fd);
  const int low = std::min(listener.get(), ready.get());
  const int high = std::max(listener.get(), ready.get());
  ::close_range(3, static_cast<unsigned>(low) - 1, 0);
  if (high > low + 1) {
    ::close_range(static_cast<unsigned>(low) + 1, static_cast<unsigned>(high) - 1, 0);
  }
  ::close_range(static_cast<unsigned>(high) + 1, ~0U, 0);
}

// Each traced process needs some descriptors.
void RaiseDescriptorLimit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

// Returns a descriptor for the signals that make the owner end in an orderly way. The terminal's
// signals are ignored.
UniqueFd TakeSignals() {
  ::signal(SIGHUP, SIG_IGN);
  ::signal(SIGPIPE, SIG_IGN);
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  ::sigprocmask(SIG_BLOCK, &ends, nullptr);
  return UniqueFd(::signalfd(-1, &ends, SFD_CLOEXEC));
}

// Reports to the command, by an empty text, that the owner serves, or otherwise what went wrong.
void ReportToCommand(UniqueFd ready, const std::string& problem) {
  const std::string text = problem + '\n';
  if (::write(ready.get(), text.data(), text.size()) < 0) return;  // the command has ended
}

void RunOwner(const SessionStart& start, UniqueFd listener, UniqueFd ready) {
  const UniqueFd signals = TakeSignals();
  RaiseDescriptorLimit();
  UseOwnProc();
  Expected<std::unique_ptr<OtherUsersProcesses>> other_users = OtherUsersProcesses::Fork();
  if (!other_users) return ReportToCommand(std::move(ready), other_users.error().message);
  std::optional<ExecHolder> holder;
  if (start.reach == SessionReach::kSystem) {
    Expected<ExecHolder> forked = ExecHolder::Fork();
    if (!forked) return ReportToCommand(std::move(ready), forked.error().message);
    holder.emplace(*std::move(forked));
  }
  Owner owner(start, std::move(listener), *std::move(other_users), std::move(holder));
  const Expected<void> opened = owner.Open();
  if (!opened) owner.ReleaseName();
  ReportToCommand(std::move(ready), opened ? "" : opened.error().message);
  if (opened) owner.Serve(signals);
}

}  // namespace

Expected<void> StartSession(const SessionStart& start) {
  LEAKGATE_TRY_ASSIGN(UniqueFd listener, ListenAsSession(start.name));
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return InconclusiveError(fmt::format("cannot start the session's owner: {}", ErrnoText()));
  }
  UniqueFd told(ends[0]);
  UniqueFd ready(ends[1]);

  const pid_t owner = ::fork();
  if (owner < 0) {
    return InconclusiveError(fmt::format("cannot start the session's owner: {}", ErrnoText()));
  }
  if (owner == 0) {
    told.Reset();
    DetachFromCommand(listener, ready);
    try {
      RunOwner(start, std::move(listener), std::move(ready));
    } catch (const std::exception&) {
      ::_exit(static_cast<int>(ExitCode::kInconclusive));
    }
    ::_exit(0);
  }
  ready.Reset();
  std::string text;
  char bytes[512];
  for (ssize_t count = 0; (count = ::read(told.get(), bytes, sizeof(bytes))) > 0;) {
    text.append(bytes, static_cast<std::size_t>(count));
  }
  if (text == "\n") return {};
  return InconclusiveError(text.empty() ? "the session's owner ended before it served"
                                        : text.substr(0, text.find('\n')));
}

}  // namespace leakgate
