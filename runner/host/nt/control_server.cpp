// Nobody connects: the runner hands a process its region while that is suspended. What that starts
// is not traced, but the server hears of it from the system, and answers as if it had asked.
#include "runner/host/control_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "runner/base/nt/win32.h"
#include "runner/base/path_text.h"
#include "runner/process/nt/process_job.h"
#include "runner/process/process_image.h"
#include "runner/process/process_tree.h"

namespace leakgate {
namespace {

constexpr ULONG_PTR kStop = 0;  // the key of a packet; others are PIDs of the jobs' first processes

std::uint64_t NumberOf(const FILETIME& time) {  // units of 100 ns
  return std::uint64_t{time.dwHighDateTime} << 32 | time.dwLowDateTime;
}

// Times of processes are as old as the system's last tick.
BeginTimes BeginTimesOf(const UniqueFd& process) {
  constexpr std::chrono::milliseconds kLongestTick(20);
  const auto now = std::chrono::steady_clock::now();
  FILETIME current{};
  FILETIME begin{};
  FILETIME unused{};
  GetSystemTimePreciseAsFileTime(&current);
  if (GetProcessTimes(HandleOf(process), &begin, &unused, &unused, &unused) == 0) return {now, now};
  const auto age = static_cast<std::int64_t>(NumberOf(current) - NumberOf(begin));
  const auto earliest = now - std::chrono::nanoseconds(100 * std::max<std::int64_t>(age, 0));
  return {earliest, std::min(now, earliest + kLongestTick)};
}

// The system may tell of a process before that has its image: Wine does, on a busy machine by far.
void AwaitImage(const UniqueFd& process, int pid) {
  constexpr std::chrono::seconds kLongest(10);
  constexpr DWORD kPauseMs = 1;
  const auto begin = std::chrono::steady_clock::now();
  while (ImageOf(pid).empty() && std::chrono::steady_clock::now() - begin < kLongest) {
    if (WaitForSingleObject(HandleOf(process), kPauseMs) != WAIT_TIMEOUT) return;
  }
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
    if (!process) {
      // It has ended, and nobody keeps it: what it was cannot be known.
      const auto now = std::chrono::steady_clock::now();
      (void)handlers_.on_hello({.pid = pid, .uid = EffectiveUser(), .began = BeginTimes{now, now}});
      continue;
    }
    const BeginTimes began = BeginTimesOf(process);
    AwaitImage(process, pid);
    const bool is_of_other_runner =
        FileNameIn(ImageOf(pid)) == "leakgate.exe" || of_other_runners.contains(ParentOf(pid));
    if (is_of_other_runner) {
      of_other_runners.insert(pid);
      continue;
    }
    (void)handlers_.on_hello({.pid = pid, .uid = EffectiveUser(), .began = began});
  }
}

bool IsThisUser(unsigned uid) { return uid == EffectiveUser(); }

bool IsControlName(const std::string&) { return false; }

bool IsOfThisRun(const ControlPeer& peer, const std::string&) {
  return IsBelow(peer.pid, OwnPid());
}

}  // namespace leakgate
