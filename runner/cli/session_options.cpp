#include "runner/cli/session_options.h"

#include <fmt/format.h>
#include <pwd.h>

#include <CLI/CLI.hpp>
#include <charconv>

#include "runner/cli/numbers.h"
#include "runner/cli/repeatable_option.h"
#include "runner/host/named_sockets.h"
#include "runner/snapshot/stack_events.h"

namespace leakgate {
namespace {

constexpr const char* kImage = "IMAGE[:ARGUMENT]";

Expected<SessionScope> ScopeOf(const std::vector<std::string>& images,
                               const std::vector<std::string>& pids) {
  SessionScope scope;
  for (const std::string& text : images) {
    Expected<ImageSelector> image = ParseImageSelector(text);
    if (!image) return Unexpected(image.error());
    scope.images.push_back(*std::move(image));
  }
  for (const std::string& text : pids) {
    const Expected<int> pid = ParsePid(text);
    if (!pid) return Unexpected(pid.error());
    scope.pids.insert(*pid);
  }
  return scope;
}

// A name, a number, or "all".
Expected<void> AddUser(const std::string& text, SessionUsers& users) {
  if (text == "all") {
    users.are_all = true;
    return {};
  }
  unsigned uid = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, uid);
  if (error != std::errc() || rest != end) {
    const passwd* const user = ::getpwnam(text.c_str());
    if (user == nullptr) {
      return UsageError(fmt::format(
          "--user {}: no such user; write a user's name or number, or all for every user", text));
    }
    uid = user->pw_uid;
  }
  users.uids.insert(uid);
  return {};
}

}  // namespace

void AddStacksOption(CLI::App& command, std::optional<std::string>& stacks) {
  command
      .add_option("--stacks", stacks,
                  "The events whose call stacks are recorded, of alloc, realloc and free, with "
                  "commas. Blocks are counted without, too. free: who frees, by bytes and blocks. "
                  "Default: alloc,realloc")
      ->type_name("EVENTS");
}

Expected<void> ReadStacks(const std::optional<std::string>& text, std::uint32_t& events) {
  if (!text) return {};
  const Expected<std::uint32_t> parsed = ParseStackEvents(*text);
  if (!parsed) return Unexpected(parsed.error());
  events = *parsed;
  return {};
}

namespace {

Expected<Command> MakeExec(std::string name, std::vector<std::string> program) {
  if (!program.empty()) return Command(SessionExecCommand{std::move(name), std::move(program)});
  return UsageError(
      "no program to execute; write it after two dashes: leakgate session exec NAME -- COMMAND");
}

}  // namespace

SessionOptions::SessionOptions(CLI::App& app)
    : session_(app.add_subcommand("session")->require_subcommand(0, 1)),
      start_(session_->add_subcommand("start")),
      exec_(session_->add_subcommand("exec")),
      update_(session_->add_subcommand("update")),
      query_(session_->add_subcommand("query")),
      list_(session_->add_subcommand("list")),
      stop_(session_->add_subcommand("stop")) {
  for (CLI::App* const command : {start_, exec_, update_, query_, stop_}) {
    command->add_option("name", raw_.names)->type_name("NAME");
  }
  Repeatable(
      start_->add_option("--image", raw_.images,
                         "Trace every process of that image which starts below the session: the "
                         "file's name, or with a slash its path. Where the image hosts programs, "
                         "as an interpreter does, ARGUMENT tells them apart: python3:server.py. * "
                         "and ? stand for any text and any character. Repeatable"),
      kImage);
  Repeatable(start_->add_option("--pid", raw_.pids, "Trace this process. Repeatable"), "PID");
  Repeatable(start_->add_option("--user", raw_.users,
                                "Trace processes of --image that are this user's, too: a name, a "
                                "number, or all. Only root can. Repeatable"),
             "USER");
  start_
      ->add_option("--stack-depth", raw_.stack_depth,
                   fmt::format("Record at most so many frames of a stack, 1 to {}. Default: {}",
                               kMaxStackDepth, kDefaultStackDepth))
      ->type_name("FRAMES");
  AddStacksOption(*start_, raw_.stacks);
  Repeatable(update_->add_option("--add-image", raw_.images,
                                 "As --image of leakgate session start. Repeatable"),
             kImage);
  Repeatable(update_->add_option("--add-pid", raw_.pids, "Trace this process, too. Repeatable"),
             "PID");
  Repeatable(update_->add_option("--drop-image", raw_.dropped_images,
                                 "Trace no further process of that image. Repeatable"),
             kImage);
  Repeatable(update_->add_option("--drop-pid", raw_.dropped_pids,
                                 "Trace this process no longer. Repeatable"),
             "PID");
  stop_
      ->add_option("-o,--output", raw_.output,
                   "First take a snapshot of each process, also of those that have ended. A "
                   "directory takes any number")
      ->type_name("FILE|DIR");
  query_->add_flag("--json", raw_.is_json, "For machines");
  list_->add_flag("--json", raw_.is_json, "For machines");
  list_->add_flag("--clear", raw_.clears,
                  "Have processes whose session's owner was killed traced no more");
}

Expected<std::string> SessionOptions::OneName() const {
  if (raw_.names.size() != 1) {
    return UsageError(
        "name one session, for example: leakgate session start web --image nginx; see leakgate "
        "session --help");
  }
  const Expected<void> checked = CheckSessionName(raw_.names.front());
  if (!checked) return Unexpected(checked.error());
  return raw_.names.front();
}

Expected<Command> SessionOptions::MakeStart(std::string name, const Texts& program) const {
  SessionStartCommand command;
  command.start.name = std::move(name);
  Expected<SessionScope> scope = ScopeOf(raw_.images, raw_.pids);
  if (!scope) return Unexpected(scope.error());
  command.start.scope = *std::move(scope);
  for (const std::string& user : raw_.users) {
    const Expected<void> added = AddUser(user, command.start.scope.users);
    if (!added) return Unexpected(added.error());
  }
  if (command.start.scope.images.empty() && command.start.scope.pids.empty()) {
    return UsageError(
        "nothing to trace; name images or PIDs: leakgate session start web --image nginx; "
        "--image '*' is all");
  }
  if (raw_.stack_depth) {
    const Expected<std::uint32_t> depth = ParseStackDepth(*raw_.stack_depth);
    if (!depth) return Unexpected(depth.error());
    command.start.stack_depth = *depth;
  }
  const Expected<void> stacks = ReadStacks(raw_.stacks, command.start.stack_events);
  if (!stacks) return Unexpected(stacks.error());
  command.program = program;
  return Command(std::move(command));
}

Expected<Command> SessionOptions::MakeUpdate(std::string name) const {
  Expected<SessionScope> add = ScopeOf(raw_.images, raw_.pids);
  if (!add) return Unexpected(add.error());
  Expected<SessionScope> drop = ScopeOf(raw_.dropped_images, raw_.dropped_pids);
  if (!drop) return Unexpected(drop.error());
  return Command(SessionUpdateCommand{std::move(name), *std::move(add), *std::move(drop)});
}

Expected<Command> SessionOptions::Make(const std::vector<std::string>& program) const {
  const bool executes = start_->parsed() || exec_->parsed();
  if (!executes && !program.empty()) {
    return UsageError(
        "only leakgate session start and exec run a program; leave out what follows --");
  }
  const SessionOutput output = raw_.is_json ? SessionOutput::kJson : SessionOutput::kText;
  if (list_->parsed())
    return Command(
        SessionListCommand{output, raw_.clears ? OrphanCare::kClear : OrphanCare::kShow});
  if (session_->get_subcommands().empty()) {
    return UsageError(
        "no command; there are start, exec, update, query, list and stop; see leakgate session "
        "--help");
  }
  Expected<std::string> name = OneName();
  if (!name) return Unexpected(name.error());
  if (start_->parsed()) return MakeStart(*std::move(name), program);
  if (exec_->parsed()) return MakeExec(*std::move(name), program);
  if (update_->parsed()) return MakeUpdate(*std::move(name));
  if (query_->parsed()) return Command(SessionQueryCommand{*std::move(name), output});
  return Command(SessionStopCommand{*std::move(name), raw_.output});
}

}  // namespace leakgate
