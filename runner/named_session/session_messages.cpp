#include "runner/named_session/session_messages.h"

#include <array>

#include "runner/named_session/json_members.h"
#include "runner/region/stack_events.h"

namespace leakgate {
namespace {

using Json = nlohmann::json;

constexpr std::array<const char*, 5> kStateWords = {"tracing", "starting", "failed", "disabled",
                                                    "ended"};

ProcessState StateFromWord(const std::string& word) {
  for (std::size_t i = 0; i < kStateWords.size(); ++i) {
    if (word == kStateWords[i]) return static_cast<ProcessState>(i);
  }
  return ProcessState::kFailed;
}

// `key` of `body`, if it is there and of the type of `value`.
template <typename T>
void Read(const Json& body, const char* key, T& value) {
  value = MemberOr(body, key, std::move(value));
}

}  // namespace

const char* WordOf(ProcessState state) { return kStateWords[static_cast<std::size_t>(state)]; }

Json ToJson(const ProcessStatus& process) {
  return {{"pid", process.pid},
          {"generation", process.generation},
          {"path", process.program.path},
          {"arguments", process.program.arguments},
          {"state", WordOf(process.state)},
          {"problem", process.problem},
          {"begin_seconds", process.begin_seconds},
          {"allocated_bytes", process.totals.allocated_bytes},
          {"allocated_blocks", process.totals.allocated_blocks},
          {"freed_bytes", process.totals.freed_bytes},
          {"freed_blocks", process.totals.freed_blocks},
          {"drops", process.drops},
          {"attached_seconds", process.attached_seconds}};
}

ProcessStatus ProcessFromJson(const Json& body) {
  ProcessStatus process;
  std::string state;
  Read(body, "pid", process.pid);
  Read(body, "generation", process.generation);
  Read(body, "path", process.program.path);
  Read(body, "arguments", process.program.arguments);
  Read(body, "state", state);
  process.state = StateFromWord(state);
  Read(body, "problem", process.problem);
  Read(body, "begin_seconds", process.begin_seconds);
  Read(body, "allocated_bytes", process.totals.allocated_bytes);
  Read(body, "allocated_blocks", process.totals.allocated_blocks);
  Read(body, "freed_bytes", process.totals.freed_bytes);
  Read(body, "freed_blocks", process.totals.freed_blocks);
  Read(body, "drops", process.drops);
  Read(body, "attached_seconds", process.attached_seconds);
  return process;
}

Json ToJson(const SessionScope& scope) {
  Json images = Json::array();
  for (const ImageSelector& image : scope.images) images.push_back(TextOf(image));
  return {{"images", std::move(images)},
          {"pids", scope.pids},
          {"uids", scope.users.uids},
          {"all_users", scope.users.are_all}};
}

Expected<SessionScope> ScopeFromJson(const Json& body) {
  SessionScope scope;
  std::vector<std::string> images;
  Read(body, "images", images);
  Read(body, "pids", scope.pids);
  Read(body, "uids", scope.users.uids);
  Read(body, "all_users", scope.users.are_all);
  for (const std::string& text : images) {
    Expected<ImageSelector> image = ParseImageSelector(text);
    if (!image) return Unexpected(image.error());
    scope.images.push_back(*std::move(image));
  }
  return scope;
}

Json ToJson(const SessionStatus& status) {
  Json processes = Json::array();
  for (const ProcessStatus& process : status.processes) processes.push_back(ToJson(process));
  return {{"name", status.name},
          {"owner_pid", status.owner_pid},
          {"begin_seconds", status.begin_seconds},
          {"control", status.control},
          {"stack_depth", status.stack_depth},
          {"stacks", StackEventNames(status.stack_events)},
          {"scope", ToJson(status.scope)},
          {"forgotten", status.forgotten},
          {"untraced", status.untraced},
          {"processes", std::move(processes)}};
}

SessionStatus StatusFromJson(const Json& body) {
  SessionStatus status;
  Read(body, "name", status.name);
  Read(body, "owner_pid", status.owner_pid);
  Read(body, "begin_seconds", status.begin_seconds);
  Read(body, "control", status.control);
  Read(body, "stack_depth", status.stack_depth);
  std::vector<std::string> stacks = StackEventNames(status.stack_events);
  Read(body, "stacks", stacks);
  status.stack_events = StackEventsFromNames(stacks);
  Read(body, "forgotten", status.forgotten);
  Read(body, "untraced", status.untraced);
  Expected<SessionScope> scope = ScopeFromJson(MemberOr(body, "scope", Json()));
  if (scope) status.scope = *std::move(scope);
  for (const Json& process : MemberOr(body, "processes", std::vector<Json>())) {
    status.processes.push_back(ProcessFromJson(process));
  }
  return status;
}

Json ToJson(const Error& error) {
  return {{"error", error.message}, {"exit_code", static_cast<int>(error.exit_code)}};
}

std::optional<Error> ErrorFromJson(const Json& body) {
  Error error{"", ExitCode::kInconclusive};
  Read(body, "error", error.message);
  if (error.message.empty()) return std::nullopt;
  int code = 0;
  Read(body, "exit_code", code);
  if (code == static_cast<int>(ExitCode::kUsage)) error.exit_code = ExitCode::kUsage;
  return error;
}

}  // namespace leakgate
