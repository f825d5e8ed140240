#include "runner/sessions/linux/start_watch.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <sstream>

#include "runner/attach/linux/exec_catch.h"
#include "runner/host/control_server.h"
#include "runner/process/proc_files.h"
#include "runner/process/process_tree.h"

namespace leakgate {
namespace {

using WatchClock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPause(10);
constexpr std::chrono::milliseconds kPauseBesideHolder(50);
constexpr std::chrono::milliseconds kPauseOfAll(500);
constexpr int kLooksAtYoung = 100;  // a shell's child executes its program soon, or not at all
constexpr int kMostNew = 20'000;
constexpr std::size_t kMostLetGo = 16;
constexpr std::size_t kWorkers = 8;  // mostly they wait for their process
constexpr std::size_t kMostWorkersOfUser = 4;

// Returns the last number in "0.20 0.18 0.12 1/80 11206", which was given to a process or a thread.
int LastPid() {
  const std::string text = ReadProcFile("/proc/loadavg").value_or("");
  const std::size_t at = text.rfind(' ');
  return at == std::string::npos ? 0 : std::atoi(text.c_str() + at);
}

int HighestPid() {
  const int highest = std::atoi(ReadProcFile("/proc/sys/kernel/pid_max").value_or("").c_str());
  return highest > 0 ? highest : 1 << 15;
}

// A fork child that has executed nothing yet runs its parent's program (proc_pid_stat(5), flags).
bool HasExecuted(int pid) {
  constexpr unsigned long kForkedWithoutExec = 0x40;
  const std::string stat = ReadTaskFile(pid, pid, "stat");
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return false;
  std::istringstream fields(stat.substr(name_end + 1));
  std::string state;
  long other = 0;
  unsigned long flags = 0;
  fields >> state;
  for (int i = 0; i < 5; ++i) fields >> other;  // ppid, pgrp, session, tty_nr, tpgid
  fields >> flags;
  return (flags & kForkedWithoutExec) == 0;
}

// Returns whether a worker of the holder is about to enable the process, or to report why not.
bool IsSeizedByHolder(int pid) {
  const int tracer = std::atoi(StatusField(pid, pid, "TracerPid").c_str());
  return tracer != 0 && NameOfThread(tracer, tracer) == kHolderName;
}

bool IsProcess(int pid) { return StatusField(pid, pid, "Tgid") == std::to_string(pid); }

}  // namespace

StartWatch::StartWatch(StartWatchSetup setup, SessionProcesses& processes,
                       std::optional<ExecHolder> holder, std::string why_not_held)
    : setup_(std::move(setup)),
      processes_(processes),
      holder_(std::move(holder)),
      is_holding_(holder_.has_value()),
      last_pid_(LastPid()),
      why_not_held_(std::move(why_not_held)),
      end_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  for (const int pid : ListProcesses()) {
    const std::optional<ExecutedProgram> program = setup_.describe(pid);
    if (!program) continue;
    seen_[pid] = {program->path, StartTimeOf(pid), true, false};
    if (processes_.IsWanted(*program) && HasExecuted(pid)) ran_before_.push_back(pid);
  }
  for (std::size_t i = 0; i < kWorkers; ++i) workers_.emplace_back([this] { AttachQueued(); });
  thread_ = std::thread([this] { Serve(); });
}

StartWatch::~StartWatch() {
  ::eventfd_write(end_.get(), 1);
  thread_.join();
  if (holder_) holder_->End();
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
    queue_.clear();
  }
  queued_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void StartWatch::NoteChange() {
  if (!is_holding_) return;
  SessionScope scope = processes_.scope();
  scope.users = setup_.users;
  holder_->Change({.control = setup_.control, .agent = setup_.agent, .scope = std::move(scope)});
}

WatchStatus StartWatch::Status() const {
  const std::lock_guard lock(mutex_);
  return {setup_.reach, is_holding_, why_not_held_, unseen_, ran_before_, let_go_};
}

void StartWatch::Serve() {
  WatchClock::time_point next_of_all = WatchClock::now() + kPauseOfAll;
  for (;;) {
    pollfd waits[] = {{end_.get(), POLLIN, 0}, {is_holding_ ? holder_->fd() : -1, POLLIN, 0}};
    const auto pause = is_holding_ ? kPauseBesideHolder : kPause;
    if (::poll(waits, 2, static_cast<int>(pause.count())) < 0 && errno != EINTR) return;
    if (waits[0].revents != 0) return;
    const bool is_time = WatchClock::now() >= next_of_all;
    if (is_time) next_of_all = WatchClock::now() + kPauseOfAll;
    try {
      Look(is_time ? Which::kAll : Which::kYoung);
    } catch (const std::exception&) {  // no memory at the moment: the next pass does it all
    }
  }
}

void StartWatch::Look(Which which) {
  TakeNew();
  if (is_holding_) HearHolder();
  LookAtYoung();
  if (which == Which::kAll) LookAtAll();
}

void StartWatch::HearHolder() {
  ExecHolder::Notices notices = holder_->Take();
  for (ProcessStatus& program : notices.programs) {
    processes_.NoteProgram(std::move(program));
  }
  processes_.NoteUnreported(notices.untold);
  unseen_ += notices.unseen;
  const std::lock_guard lock(mutex_);
  for (const unsigned uid : notices.barred) {
    std::erase(let_go_, uid);
    let_go_.push_back(uid);
    if (let_go_.size() > kMostLetGo) let_go_.erase(let_go_.begin());
  }
  if (!notices.has_ended) return;
  is_holding_ = false;
  why_not_held_ = fmt::format(
      "the process that held programs (PID {}) was killed, {:%Y-%m-%d %H:%M:%S}; to hold them "
      "again, stop the session and start it",
      holder_->pid(), fmt::localtime(std::time(nullptr)));
}

void StartWatch::TakeNew() {
  const int last = LastPid();
  const int highest = HighestPid();
  const int count = last >= last_pid_ ? last - last_pid_ : last + highest - last_pid_;
  if (last != 0 && count > 0 && count < kMostNew) {
    for (int i = 1; i <= count; ++i) {
      const int pid = (last_pid_ + i - 1) % highest + 1;
      seen_.erase(pid);  // another process had the number
      if (!UserOfProcess(pid)) {
        if (!is_holding_) ++unseen_;
      } else if (IsProcess(pid)) {
        young_.emplace_back(pid, kLooksAtYoung);
      }
    }
  }
  last_pid_ = last;
}

void StartWatch::LookAtYoung() {
  for (std::size_t left = young_.size(); left > 0; --left) {
    auto [pid, looks] = young_.front();
    young_.pop_front();
    LookAt(pid);
    if (looks > 1 && UserOfProcess(pid)) young_.emplace_back(pid, looks - 1);
  }
}

void StartWatch::LookAtAll() {
  const std::vector<int> pids = ListProcesses();
  for (const int pid : pids) LookAt(pid);
  std::erase_if(seen_, [&](const auto& entry) {
    return std::find(pids.begin(), pids.end(), entry.first) == pids.end();
  });
}

// Mostly the file is the same as in the pass before, and this ends early.
void StartWatch::LookAt(int pid) {
  const std::optional<unsigned> uid = UserOfProcess(pid);
  if (!uid || (!IsThisUser(*uid) && !setup_.users.Has(*uid)) || pid == ::getpid()) return;
  const std::string image = ImageOf(pid);
  const std::uint64_t start_time = StartTimeOf(pid);
  Seen& seen = seen_[pid];
  const bool is_same = seen.image == image && seen.start_time == start_time;
  if (image.empty() || (is_same && seen.is_done)) return;
  std::optional<ExecutedProgram> program = setup_.describe(pid);
  if (!program) return;
  if (!processes_.IsWanted(*program)) {
    // Perhaps the process has no arguments yet; by the next pass it has.
    seen = {image, start_time, is_same, false};
    return;
  }
  if (!HasExecuted(pid)) return;
  // What the holder has is about to be enabled; whether the holder does not have it is known by the
  // next pass.
  if (holder_ && holder_->HasHandled(pid, image)) {
    seen = {image, start_time, true, false};
    return;
  }
  if (is_holding_ && IsSeizedByHolder(pid)) return;
  if (is_holding_ && !(is_same && seen.was_free)) {
    seen = {image, start_time, false, true};
    return;
  }
  seen = {image, start_time, true, false};
  if (processes_.IsTraced(pid)) return;
  Attach({pid, start_time, *uid, Shortened(*std::move(program))});
}

void StartWatch::Attach(Waiting waiting) {
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(waiting));
  }
  queued_.notify_one();
}

std::deque<StartWatch::Waiting>::iterator StartWatch::NextWaiting() {
  return std::find_if(queue_.begin(), queue_.end(), [this](const Waiting& waiting) {
    const auto found = attaching_.find(waiting.uid);
    return found == attaching_.end() || found->second < kMostWorkersOfUser;
  });
}

void StartWatch::AttachQueued() {
  for (;;) {
    std::unique_lock lock(mutex_);
    queued_.wait(lock, [this] { return is_ending_ || NextWaiting() != queue_.end(); });
    if (is_ending_) return;
    const auto at = NextWaiting();
    Waiting next = std::move(*at);
    queue_.erase(at);
    ++attaching_[next.uid];
    lock.unlock();
    const unsigned uid = next.uid;
    AttachTo(std::move(next));
    lock.lock();
    if (--attaching_[uid] == 0) attaching_.erase(uid);
    lock.unlock();
    queued_.notify_all();
  }
}

void StartWatch::AttachTo(Waiting next) {
  ProcessStatus process{.pid = next.pid,
                        .program = std::move(next.program),
                        .state = ProcessState::kFailed,
                        .start_time = next.start_time};
  const auto has_ended = [&] {
    return StartTimeOf(next.pid) != next.start_time || HasDied(next.pid, next.pid);
  };
  try {
    const Expected<void> enabled =
        has_ended() ? Expected<void>(EndedError(next.pid)) : setup_.enable(next.pid);
    if (enabled) return;
    process.problem =
        has_ended() ? "it ended before leakgate could attach to it" : enabled.error().message;
  } catch (const std::exception& error) {  // no memory at the moment
    process.problem =
        fmt::format("cannot attach: {}; raise the limits on memory (ulimit -v)", error.what());
  }
  processes_.NoteProgram(std::move(process));
}

}  // namespace leakgate
