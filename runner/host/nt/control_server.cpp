// Nobody connects: the runner hands a process its region while that is suspended. What that starts
// is not traced, but the server hears of it from the system, and answers as if it had asked.
#include "runner/host/control_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "runner/base/nt/win32.h"
#include "runner/base/path_text.h"
#include "runner/host/nt/child_notes.h"
#include "runner/process/nt/command_line.h"
#include "runner/process/nt/process_job.h"
#include "runner/process/process_image.h"
#include "runner/process/process_tree.h"

namespace leakgate {
namespace {

constexpr ULONG_PTR kStop = 0;  // the key of a packet; others are PIDs of the jobs' first processes

std::uint64_t NumberOf(const FILETIME& time) {  // units of 100 ns
  return std::uint64_t{time.dwHighDateTime} << 32 | time.dwLowDateTime;
}

// The system's time of a begin is as old as its last tick.
BeginTimes TimesOf(std::optional<std::uint64_t> began) {
  constexpr std::chrono::milliseconds kLongestTick(20);
  const auto now = std::chrono::steady_clock::now();
  if (!began) return {now, now};
  FILETIME current{};
  GetSystemTimePreciseAsFileTime(&current);
  const auto age = static_cast<std::int64_t>(NumberOf(current) - *began);
  const auto earliest = now - std::chrono::nanoseconds(100 * std::max<std::int64_t>(age, 0));
  return {earliest, std::min(now, earliest + kLongestTick)};
}

struct LifeTimes {  // as NumberOf has them
  std::uint64_t begin = 0;
  std::uint64_t end = 0;  // 0 if it has not ended
};
std::optional<LifeTimes> LifeTimesOf(const UniqueFd& process) {
  FILETIME begin{};
  FILETIME end{};
  FILETIME unused{};
  if (!process || GetProcessTimes(HandleOf(process), &begin, &end, &unused, &unused) == 0) {
    return std::nullopt;
  }
  return LifeTimes{NumberOf(begin), NumberOf(end)};
}

// The system may tell of a process before that has its image and its command line: Wine does, on a
// busy machine by far. There, a process can be waited for as if it had ended until it has a thread.
void AwaitBegin(const UniqueFd& process, int pid) {
  constexpr std::chrono::seconds kLongest(10);
  constexpr DWORD kPauseMs = 1;
  const auto begin = std::chrono::steady_clock::now();
  const bool may_read =
      static_cast<bool>(OwnHandle(OpenProcess(PROCESS_VM_READ, FALSE, static_cast<DWORD>(pid))));
  while ((ImageOf(pid).empty() || (may_read && CommandLineOf(pid).empty())) &&
         LifeTimesOf(process).value_or(LifeTimes{}).end == 0 &&
         std::chrono::steady_clock::now() - begin < kLongest) {
    Sleep(kPauseMs);
  }
}

// What can be read of a process, and else what is noted. `process` is empty if it has ended, and
// nobody has a handle of it.
StartedProcess Describe(const UniqueFd& process, int pid, ChildNotes& notes) {
  StartedProcess started;
  std::wstring line;
  std::optional<std::uint64_t> began;
  if (const std::optional<LifeTimes> times = LifeTimesOf(process)) began = times->begin;
  started.began = TimesOf(began);
  if (process) {
    AwaitBegin(process, pid);
    started.image = ImageOf(pid);
    line = CommandLineOf(pid);
  }
  if (const std::optional<NotedChild> note = notes.Take(pid, began)) {
    started.began = note->times;
    if (started.image.empty()) started.image = Utf8Of(note->image);
    if (line.empty()) line = note->command_line.value_or(L"");
  }
  started.arguments = ArgumentsInLine(line);
  return started;
}

}  // namespace

Expected<std::unique_ptr<ControlServer>> ControlServer::Start(ControlHandlers handlers) {
  std::unique_ptr<ControlServer> server(new ControlServer);
  server->name_ = fmt::format("{}{}", kControlPrefix, OwnPid());
  server->handlers_ = std::move(handlers);
  server->listener_ = OwnHandle(CreateIoCompletionPort(INVALID_HANDLE_VALUE, nullptr, 0, 1));
  if (!server->listener_) {
    return InconclusiveError(fmt::format(
        "cannot be told of the processes that the program starts: {}", WindowsErrorText()));
  }
  return server;
}

ControlServer::~ControlServer() {
  if (!thread_.joinable()) return;
  PostQueuedCompletionStatus(HandleOf(listener_), 0, kStop, nullptr);
  thread_.join();
}

HelloReply ControlServer::AnswerFor(const ControlPeer& peer) {
  HelloReply reply = handlers_.on_hello(peer);
  if (!thread_.joinable() && TellOfNewProcesses(peer.pid, listener_)) {
    UniqueFd region(reply.region_fd);
    notes_ = std::make_shared<ChildNotes>(region);
    (void)region.Release();
    thread_ = std::thread([this] { Serve(); });
  }
  return reply;
}

// A process may have ended by now. Its handle keeps its image and its parent known.
void ControlServer::Serve() {
  // A process that ends at once can be read only until its starter lets go of it.
  SetThreadPriority(GetCurrentThread(), THREAD_PRIORITY_HIGHEST);
  std::set<int> of_other_runners;  // another leakgate, and all that it starts, which that gates
  DWORD event = 0;
  ULONG_PTR first = 0;
  OVERLAPPED* subject = nullptr;  // the system's word for a PID here
  while (GetQueuedCompletionStatus(HandleOf(listener_), &event, &first, &subject, INFINITE) &&
         first != kStop) {
    const auto pid = static_cast<int>(reinterpret_cast<std::intptr_t>(subject));
    if (event != JOB_OBJECT_MSG_NEW_PROCESS || static_cast<int>(first) == pid) continue;
    const UniqueFd process = OwnHandle(OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION | SYNCHRONIZE,
                                                   FALSE, static_cast<DWORD>(pid)));
    ControlPeer peer{.pid = pid, .uid = EffectiveUser()};
    peer.started = Describe(process, pid, *notes_);
    const bool is_of_other_runner = FileNameIn(peer.started->image) == "leakgate.exe" ||
                                    of_other_runners.contains(ParentOf(pid));
    if (is_of_other_runner) {
      of_other_runners.insert(pid);
      continue;
    }
    (void)handlers_.on_hello(peer);
  }
}

std::string ProgramOf(const ControlPeer& peer) {
  return peer.started ? peer.started->image : ProgramOf(peer.pid);
}

std::vector<std::string> ArgumentsOf(const ControlPeer& peer) {
  return peer.started ? peer.started->arguments : std::vector<std::string>{};
}

bool IsThisUser(unsigned uid) { return uid == EffectiveUser(); }

bool IsControlName(const std::string&) { return false; }

bool IsOfThisRun(const ControlPeer& peer, const std::string&) {
  return IsBelow(peer.pid, OwnPid());
}

}  // namespace leakgate
