#include "runner/sessions/linux/other_users_processes.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "common/control_protocol.h"
#include "runner/host/control_server.h"
#include "runner/host/message_socket.h"
#include "runner/process/proc_files.h"
#include "runner/process/process_tree.h"

namespace leakgate {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostWorkerMessage = std::size_t{1} << 17;

bool SendJson(const UniqueFd& socket, const Json& body) {
  constexpr int kIndent = -1;  // none
  const std::string text = body.dump(kIndent, ' ', false, Json::error_handler_t::replace);
  return ::send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL) >= 0;
}

// Returns nothing if the socket is at its end.
std::optional<Json> ReceiveJson(const UniqueFd& socket) {
  std::string text(kMostWorkerMessage, '\0');
  const ssize_t bytes = ::recv(socket.get(), text.data(), text.size(), 0);
  if (bytes <= 0) return std::nullopt;
  Json body = Json::parse(text.begin(), text.begin() + bytes, nullptr, false);
  if (body.is_discarded()) return std::nullopt;
  return body;
}

enum class Came { kInTime, kLate };
Came AwaitMessage(const UniqueFd& socket, std::chrono::milliseconds patience) {
  pollfd wait{socket.get(), POLLIN, 0};
  return ::poll(&wait, 1, static_cast<int>(patience.count())) > 0 ? Came::kInTime : Came::kLate;
}

// A message has no room for all arguments that a process may have; image names need only the first
// few.
Json DescriptionOf(int pid) {
  constexpr std::size_t kMostText = std::size_t{1} << 14;
  ExecutedProgram program = ExecutedProgramOf(pid);
  std::size_t bytes = 0;
  const auto end = std::find_if(
      program.arguments.begin(), program.arguments.end(),
      [&bytes](const std::string& argument) { return (bytes += argument.size() + 8) > kMostText; });
  program.arguments.erase(end, program.arguments.end());
  return {{"path", program.path}, {"name", program.name}, {"arguments", program.arguments}};
}

Expected<void> EnableHere(const EnableRequest& request, IfItAsks if_it_asks) {
  const bool is_left =
      if_it_asks == IfItAsks::kLeaveIt &&
      CarriesMark(request.pid, fmt::format("{}={}", kControlVariable, request.control));
  if (is_left) return {};
  LEAKGATE_TRY_ASSIGN([[maybe_unused]] const Attachment attachment, EnableRunning(request));
  return {};
}

Json Outcome(const Expected<void>& done) { return done ? Json::object() : ToJson(done.error()); }

Json Do(const Json& request) {
  const int pid = MemberOr(request, "pid", 0);
  const std::string what = MemberOr(request, "do", std::string());
  if (what == "describe") return DescriptionOf(pid);
  if (what == "disable") return Outcome(DisableRunning(pid));
  return Outcome(
      EnableHere({.pid = pid,
                  .control = MemberOr(request, "control", std::string()),
                  .agent = MemberOr(request, "agent", std::string())},
                 MemberOr(request, "leave", false) ? IfItAsks::kLeaveIt : IfItAsks::kAttach));
}

void ServeOwner(const UniqueFd& owner) {
  while (const std::optional<Json> request = ReceiveJson(owner)) {
    if (!SendJson(owner, Do(*request))) return;
  }
}

Unexpected TooSlowError(unsigned uid) {
  return InconclusiveError(fmt::format(
      "a process of this user (UID {}) keeps leakgate waiting, by a file system or a stopped "
      "thread; its processes are not attached to for a while",
      uid));
}

}  // namespace

Expected<std::unique_ptr<OtherUsersProcesses>> OtherUsersProcesses::Fork() {
  LEAKGATE_TRY_ASSIGN(WorkerFactory factory, WorkerFactory::Fork("leakgate-worker", ServeOwner));
  return std::unique_ptr<OtherUsersProcesses>(new OtherUsersProcesses(std::move(factory)));
}

std::optional<unsigned> OtherUsersProcesses::OtherUserOf(int pid) {
  std::istringstream ids(StatusField(pid, pid, "Uid"));  // real, effective, saved, of file systems
  std::optional<unsigned> other_user;
  for (unsigned uid = 0; ids >> uid;) {
    if (!IsThisUser(uid) && !other_user) other_user = uid;
  }
  return other_user;
}

bool OtherUsersProcesses::IsBarred(const Lock&, unsigned uid) {
  std::erase_if(barred_, [](const auto& entry) {
    char byte = 0;
    const Barred& barred = entry.second;
    const bool is_stuck =
        ::recv(barred.stuck.get(), &byte, sizeof(byte), MSG_DONTWAIT) < 0 && errno == EAGAIN;
    return !is_stuck && Clock::now() > barred.until;
  });
  return barred_.contains(uid);
}

void OtherUsersProcesses::GiveUp(const Lock&, unsigned uid, WorkerFactory::Worker worker) {
  factory_.Kill(worker.number);
  barred_[uid] = {Clock::now() + kBarred, std::move(worker.socket)};
}

std::optional<ExecutedProgram> OtherUsersProcesses::Describe(int pid) {
  const std::optional<unsigned> uid = OtherUserOf(pid);
  if (!uid) return ExecutedProgramOf(pid);
  const Lock lock(mutex_);
  if (IsBarred(lock, *uid)) return std::nullopt;
  auto found = describers_.find(*uid);
  if (found == describers_.end()) {
    if (describers_.size() == kMostDescribers) describers_.erase(describers_.begin());
    std::optional<WorkerFactory::Worker> worker = factory_.Start();
    if (!worker) return std::nullopt;
    found = describers_.emplace(*uid, *std::move(worker)).first;
  }
  WorkerFactory::Worker& worker = found->second;
  const bool is_asked = SendJson(worker.socket, {{"do", "describe"}, {"pid", pid}});
  if (is_asked && AwaitMessage(worker.socket, kDescribePatience) == Came::kLate) {
    GiveUp(lock, *uid, std::move(worker));
    describers_.erase(found);
    return std::nullopt;
  }
  const std::optional<Json> answer = is_asked ? ReceiveJson(worker.socket) : std::nullopt;
  if (!answer) {
    describers_.erase(found);
    return std::nullopt;
  }
  return ExecutedProgram{MemberOr(*answer, "path", std::string()),
                         MemberOr(*answer, "arguments", std::vector<std::string>()),
                         MemberOr(*answer, "name", std::string())};
}

Expected<void> OtherUsersProcesses::Enable(const EnableRequest& request, IfItAsks if_it_asks) {
  const std::optional<unsigned> uid = OtherUserOf(request.pid);
  if (uid) {
    return Attach(*uid, Json{{"do", "enable"},
                             {"pid", request.pid},
                             {"control", request.control},
                             {"agent", request.agent.string()},
                             {"leave", if_it_asks == IfItAsks::kLeaveIt}}
                            .dump());
  }
  return EnableHere(request, if_it_asks);
}

Expected<void> OtherUsersProcesses::Disable(int pid) {
  const std::optional<unsigned> uid = OtherUserOf(pid);
  if (!uid) return DisableRunning(pid);
  return Attach(*uid, Json{{"do", "disable"}, {"pid", pid}}.dump());
}

Expected<void> OtherUsersProcesses::Attach(unsigned uid, const std::string& request) {
  std::optional<WorkerFactory::Worker> worker;
  {
    const Lock lock(mutex_);
    if (IsBarred(lock, uid)) return TooSlowError(uid);
    worker = factory_.Start();
  }
  const bool is_asked =
      worker && ::send(worker->socket.get(), request.data(), request.size(), MSG_NOSIGNAL) >= 0;
  if (!is_asked) return InconclusiveError("no process can be started that attaches to it");
  if (AwaitMessage(worker->socket, kAttachPatience) == Came::kLate) {
    const Lock lock(mutex_);
    GiveUp(lock, uid, *std::move(worker));
    return TooSlowError(uid);
  }
  const std::optional<Json> answer = ReceiveJson(worker->socket);
  if (!answer) return InconclusiveError("the process that attached to it has ended");
  if (const std::optional<Error> error = ErrorFromJson(*answer)) return Unexpected(*error);
  return {};
}

}  // namespace leakgate
