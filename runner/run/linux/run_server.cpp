#include "runner/run/run_server.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <future>

#include "runner/host/message_socket.h"
#include "runner/host/named_sockets.h"
#include "runner/process/process_image.h"
#include "runner/reach/linux/frozen_process.h"

namespace leakgate {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kClient = "the command";

}  // namespace

std::shared_ptr<RunServer> RunServer::Start(RunProcesses processes) {
  UniqueFd listener = ListenAsRun();
  UniqueFd stop(::eventfd(0, EFD_CLOEXEC));
  if (!listener || !stop) return nullptr;
  return std::shared_ptr<RunServer>(
      new RunServer(std::move(processes), std::move(listener), std::move(stop)));
}

RunServer::RunServer(RunProcesses processes, UniqueFd listener, UniqueFd stop)
    : processes_(std::move(processes)),
      listener_(std::move(listener)),
      stop_(std::move(stop)),
      thread_([this] { Serve(); }) {}

RunServer::~RunServer() {
  ::eventfd_write(stop_.get(), 1);
  thread_.join();
}

void RunServer::Serve() {
  for (;;) {
    pollfd waits[] = {{stop_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
    if (::poll(waits, 2, -1) < 0 && errno != EINTR) return;  // commands get no answers then
    if (waits[0].revents != 0) return;
    if (waits[1].revents == 0) continue;
    try {
      ServeOne();
    } catch (const std::exception&) {
      // There is no memory or no thread: the command sees a closed connection, and the run goes on.
    }
  }
}

void RunServer::ServeOne() {
  const UniqueFd client = AcceptClient(listener_);
  if (!client) return;
  // A silent command must not delay the run's end.
  pollfd waits[] = {{stop_.get(), POLLIN, 0}, {client.get(), POLLIN, 0}};
  ::poll(waits, 2, 1000);
  if (waits[0].revents != 0 || waits[1].revents == 0) return;
  const Expected<SocketMessage> request = ReceiveMessage(client, kClient);
  if (!request) return;
  if (MemberOr(request->body, "do", std::string()) == "hold") return Hold(client, request->body);
  Expected<SocketMessage> answer = Answer(request->body);
  if (!answer) answer = SocketMessage{ToJson(answer.error())};
  (void)SendMessage(client, *answer, kClient);  // the command may have gone
}

Expected<SocketMessage> RunServer::Answer(const Json& request) const {
  const std::string what = MemberOr(request, "do", std::string());
  if (what == "query") return Query();
  if (what != "region") {
    return UsageError(fmt::format("{} does not know '{}'", NameOfRun(::getpid()), what));
  }
  LEAKGATE_TRY_ASSIGN(ProcessRegion process, Find(request));
  return SocketMessage{ToJson(process.status), std::move(process.region)};
}

// Returns a usage error if the run does not trace the process or has judged it already.
Expected<ProcessRegion> RunServer::Find(const Json& request) const {
  const int pid = MemberOr(request, "pid", 0);
  std::vector<ProcessRegion> processes = processes_();
  const auto found =
      std::find_if(processes.rbegin(), processes.rend(),
                   [pid](const ProcessRegion& process) { return process.status.pid == pid; });
  if (found != processes.rend()) return std::move(*found);
  return UsageError(fmt::format("{} does not trace PID {}", NameOfRun(::getpid()), pid));
}

SocketMessage RunServer::Query() const {
  Json processes = Json::array();
  for (const ProcessRegion& process : processes_()) {
    processes.push_back(ToJson(process.status));
  }
  return {{{"processes", std::move(processes)}}};
}

// Holds the process on a thread that then ends: with the tracing thread, the kernel ends the
// tracing.
void RunServer::Hold(const UniqueFd& client, const Json& request) const {
  const Expected<ProcessRegion> process = Find(request);
  if (!process) return (void)SendMessage(client, {ToJson(process.error())}, kClient);
  std::async(std::launch::async, [&] {
    Expected<FrozenProcess> frozen = FrozenProcess::Freeze(process->status.pid);
    if (!frozen) return (void)SendMessage(client, {ToJson(frozen.error())}, kClient);
    (void)SendMessage(client, {Json::object()}, kClient);
    Expected<void> released = AwaitRelease(client, process->status.pid);
    const bool has_stood_still = frozen->HasStoodStill();
    frozen->Thaw();
    if (released && !has_stood_still) released = WokenError(process->status.pid);
    (void)SendMessage(client, {released ? Json::object() : ToJson(released.error())}, kClient);
  }).get();
}

Expected<void> RunServer::AwaitRelease(const UniqueFd& client, int pid) const {
  const UniqueFd end = WatchEnd(pid);  // may be empty; the process's end then goes unnoticed
  pollfd waits[] = {
      {client.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}, {end ? end.get() : -1, POLLIN, 0}};
  const std::chrono::milliseconds most = kLongestHold;
  const bool is_over = ::poll(waits, 3, static_cast<int>(most.count())) != 0;
  if (waits[0].revents != 0 || waits[2].revents != 0) return {};
  if (is_over) return InconclusiveError(fmt::format("{} has ended", NameOfRun(::getpid())));
  return InconclusiveError(
      fmt::format("PID {} was stopped for {} s, and goes on: the snapshot is not of one moment; "
                  "write it to a faster disk, or leave out --consistent",
                  pid, kLongestHold.count()));
}

}  // namespace leakgate
