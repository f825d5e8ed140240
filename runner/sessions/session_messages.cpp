#include "runner/sessions/session_messages.h"

#include <fmt/format.h>

#include <algorithm>

#include "runner/base/path_text.h"
#include "runner/budget/wording.h"
#include "runner/host/message_socket.h"
#include "runner/region/region_words.h"

namespace leakgate {
namespace {

using Json = nlohmann::json;

std::string_view FileNameOf(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

bool MatchesFile(std::string_view glob, std::string_view path) {
  return MatchesGlob(glob, path) || MatchesGlob(glob, FileNameOf(path));
}

}  // namespace

Expected<ImageSelector> ParseImageSelector(std::string_view text) {
  const std::size_t colon = text.find(':');
  ImageSelector selector{std::string(text.substr(0, colon)), ""};
  if (colon != std::string_view::npos) selector.argument = text.substr(colon + 1);
  const bool is_cut = colon != std::string_view::npos && selector.argument.empty();
  if (!selector.image.empty() && !is_cut) return selector;
  return UsageError(
      fmt::format("--image '{}': not an image; write its file's name, and for a program that "
                  "another hosts an argument: --image redis-server, --image python3:server.py",
                  text));
}

std::string TextOf(const ImageSelector& selector) {
  return selector.argument.empty() ? selector.image : selector.image + ':' + selector.argument;
}

bool SelectsImage(const ImageSelector& selector, std::string_view path,
                  std::string_view first_argument) {
  return MatchesFile(selector.image, path) || MatchesFile(selector.image, first_argument);
}

bool Selects(const ImageSelector& selector, const ExecutedProgram& program) {
  const bool has_arguments = !program.arguments.empty();
  const bool is_image =
      SelectsImage(selector, program.path, has_arguments ? program.arguments[0] : "");
  if (!is_image || selector.argument.empty()) return is_image;
  return has_arguments && std::any_of(program.arguments.begin() + 1, program.arguments.end(),
                                      [&](const auto& argument) {
                                        return MatchesFile(selector.argument, argument);
                                      });
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
  ReadMember(body, "images", images);
  ReadMember(body, "pids", scope.pids);
  ReadMember(body, "uids", scope.users.uids);
  ReadMember(body, "all_users", scope.users.are_all);
  for (const std::string& text : images) {
    LEAKGATE_TRY_ASSIGN(ImageSelector image, ParseImageSelector(text));
    scope.images.push_back(std::move(image));
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
          {"reach", Word(status.watch.reach)},
          {"is_holding", status.watch.is_holding},
          {"why_not_held", status.watch.why_not_held},
          {"unseen", status.watch.unseen},
          {"ran_before", status.watch.ran_before},
          {"let_go", status.watch.let_go},
          {"expires_seconds", status.expires_seconds},
          {"ring_directory", status.ring.directory},
          {"ring_files", status.ring.files},
          {"ring_bytes", status.ring.bytes},
          {"ring_taken", status.ring.taken},
          {"ring_problem", status.ring.problem},
          {"ring_without_last", status.ring.without_last},
          {"forgotten", status.forgotten},
          {"kept_bytes", status.kept_bytes},
          {"most_kept_bytes", status.most_kept_bytes},
          {"failure", status.failure},
          {"untraced", status.untraced},
          {"processes", std::move(processes)}};
}

SessionStatus StatusFromJson(const Json& body) {
  SessionStatus status;
  ReadMember(body, "name", status.name);
  ReadMember(body, "owner_pid", status.owner_pid);
  ReadMember(body, "begin_seconds", status.begin_seconds);
  ReadMember(body, "control", status.control);
  ReadMember(body, "stack_depth", status.stack_depth);
  std::vector<std::string> stacks = StackEventNames(status.stack_events);
  ReadMember(body, "stacks", stacks);
  status.stack_events = StackEventsFromNames(stacks);
  const auto reach = FromWord<SessionReach>(MemberOr(body, "reach", std::string()));
  status.watch.reach = reach.value_or(SessionReach::kBelow);
  ReadMember(body, "is_holding", status.watch.is_holding);
  ReadMember(body, "why_not_held", status.watch.why_not_held);
  ReadMember(body, "unseen", status.watch.unseen);
  ReadMember(body, "ran_before", status.watch.ran_before);
  ReadMember(body, "let_go", status.watch.let_go);
  ReadMember(body, "expires_seconds", status.expires_seconds);
  ReadMember(body, "ring_directory", status.ring.directory);
  ReadMember(body, "ring_files", status.ring.files);
  ReadMember(body, "ring_bytes", status.ring.bytes);
  ReadMember(body, "ring_taken", status.ring.taken);
  ReadMember(body, "ring_problem", status.ring.problem);
  ReadMember(body, "ring_without_last", status.ring.without_last);
  ReadMember(body, "forgotten", status.forgotten);
  ReadMember(body, "kept_bytes", status.kept_bytes);
  ReadMember(body, "most_kept_bytes", status.most_kept_bytes);
  ReadMember(body, "failure", status.failure);
  ReadMember(body, "untraced", status.untraced);
  Expected<SessionScope> scope = ScopeFromJson(MemberOr(body, "scope", Json()));
  if (scope) status.scope = *std::move(scope);
  for (const Json& process : MemberOr(body, "processes", std::vector<Json>())) {
    status.processes.push_back(ProcessFromJson(process));
  }
  return status;
}

Json ToJson(const std::vector<RecordedFile>& files) {
  Json all = Json::array();
  for (const RecordedFile& file : files) {
    all.push_back({{"file", PathText(file.path)},
                   {"end_ns", file.closing.end_ns},
                   {"events", file.closing.events},
                   {"lost_events", file.closing.lost_events},
                   {"waits", file.closing.waits},
                   {"waited_ns", file.closing.waited_ns},
                   {"missing", file.closing.missing}});
  }
  return all;
}

std::vector<RecordedFile> RecordedFilesFromJson(const Json& body) {
  std::vector<RecordedFile> files;
  if (!body.is_array()) return files;
  for (const Json& told : body) {
    RecordedFile& file = files.emplace_back();
    file.path = MemberOr(told, "file", std::string());
    ReadMember(told, "end_ns", file.closing.end_ns);
    ReadMember(told, "events", file.closing.events);
    ReadMember(told, "lost_events", file.closing.lost_events);
    ReadMember(told, "waits", file.closing.waits);
    ReadMember(told, "waited_ns", file.closing.waited_ns);
    ReadMember(told, "missing", file.closing.missing);
  }
  return files;
}

}  // namespace leakgate
