#include "runner/run/run_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>

#include "runner/host/message_socket.h"
#include "runner/host/named_sockets.h"
#include "runner/reach/process_stop.h"

namespace leakgate {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kClient = "the command";

}  // namespace

RunServer::RunServer(RunProcesses processes, UniqueFd listener, UniqueFd stop)
    : processes_(std::move(processes)),
      listener_(std::move(listener)),
      stop_(std::move(stop)),
      thread_([this] { Serve(); }) {}

void RunServer::ServeClient(const UniqueFd& client) const {
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
    return UsageError(fmt::format("{} does not know '{}'", NameOfRun(OwnPid()), what));
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
  return UsageError(fmt::format("{} does not trace PID {}", NameOfRun(OwnPid()), pid));
}

SocketMessage RunServer::Query() const {
  Json processes = Json::array();
  for (const ProcessRegion& process : processes_()) {
    processes.push_back(ToJson(process.status));
  }
  return {{{"processes", std::move(processes)}}};
}

// Holds the process on a thread that then ends: with a tracing thread, the kernel ends the tracing.
void RunServer::Hold(const UniqueFd& client, const Json& request) const {
  const Expected<ProcessRegion> process = Find(request);
  if (!process) return (void)SendMessage(client, {ToJson(process.error())}, kClient);
  std::async(std::launch::async, [&] {
    Expected<std::unique_ptr<ProcessStop>> stop = ProcessStop::Stop(process->status.pid);
    if (!stop) return (void)SendMessage(client, {ToJson(stop.error())}, kClient);
    (void)SendMessage(client, {Json::object()}, kClient);
    Expected<void> released = AwaitRelease(client, process->status.pid);
    const bool has_stood_still = (*stop)->HasStoodStill();
    (*stop).reset();
    if (released && !has_stood_still) released = WokenError(process->status.pid);
    (void)SendMessage(client, {released ? Json::object() : ToJson(released.error())}, kClient);
  }).get();
}

Unexpected RunServer::HeldTooLong(int pid) {
  return InconclusiveError(
      fmt::format("PID {} was stopped for {} s, and goes on: the snapshot is not of one moment; "
                  "write it to a faster disk, or leave out --consistent",
                  pid, kLongestHold.count()));
}

Unexpected RunServer::HasEnded() {
  return InconclusiveError(fmt::format("{} has ended", NameOfRun(OwnPid())));
}

}  // namespace leakgate
