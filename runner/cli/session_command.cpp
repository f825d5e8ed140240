#include "runner/cli/session_command.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <map>

#include "runner/attach/attach.h"
#include "runner/attach/program_environment.h"
#include "runner/cli/agent_location.h"
#include "runner/cli/session_text.h"
#include "runner/cli/snapshot_take_command.h"
#include "runner/cli/terminal.h"
#include "runner/inspection/linux/process_image.h"
#include "runner/run/preparation.h"
#include "runner/sessions/run_client.h"
#include "runner/sessions/session_client.h"
#include "runner/util/linux/errno_text.h"

namespace leakgate {
namespace {

constexpr int kDone = static_cast<int>(ExitCode::kPass);

Expected<void> RequireOwnProcess(int pid) {
  struct stat facts {};
  if (::stat(fmt::format("/proc/{}", pid).c_str(), &facts) != 0) {
    return UsageError(fmt::format("there is no process with PID {}", pid));
  }
  if (facts.st_uid == ::geteuid() || ::geteuid() == 0) return {};
  return UsageError(
      fmt::format("PID {} is another user's; start the session as that user, or as root", pid));
}

Expected<void> RequireOwnProcesses(const SessionScope& scope) {
  const bool has_others = scope.users.are_all || !scope.users.uids.empty();
  if (has_others && ::geteuid() != 0) {
    return UsageError(
        "--user: only root's sessions trace other users' processes; start the session as root, or "
        "as that user");
  }
  for (const int pid : scope.pids) {
    const Expected<void> checked = RequireOwnProcess(pid);
    if (!checked) return checked;
    const Expected<void> is_free = RequireInNoRun(pid);
    if (!is_free) return is_free;
  }
  return {};
}

std::vector<char*> PointersTo(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

struct Below {
  std::filesystem::path program;
  std::vector<std::string> arguments;
};

// What can be wrong with the program is told before anything is started.
Expected<Below> PrepareBelow(const std::vector<std::string>& program) {
  const Expected<std::filesystem::path> path = FindProgram(program.front());
  if (!path) return Unexpected(path.error());
  const Expected<void> has_agent = RequireAgent(FindAgent());
  if (!has_agent) return Unexpected(has_agent.error());
  return Below{*path, program};
}

// In this process's place, with all that it has.
Expected<int> ExecuteBelow(const std::string& control, Below below) {
  auto environment = ProgramEnvironment(OwnEnvironment(), {FindAgent(), control});
  if (!environment) return Unexpected(environment.error());
  ::execve(below.program.c_str(), PointersTo(below.arguments).data(),
           PointersTo(*environment).data());
  return UsageError(fmt::format("{}: cannot be executed: {}", below.program.string(), ErrnoText()));
}

// Of what was never traced there is nothing to take.
bool HasSnapshots(const ProcessStatus& process) {
  return process.state != ProcessState::kFailed && process.state != ProcessState::kStarting;
}

// A file for one process, a directory for any number.
Expected<void> TakeAll(const SessionStopCommand& command) {
  if (command.output.empty()) return {};
  const Expected<SessionStatus> status = QuerySession(command.name);
  if (!status) return Unexpected(status.error());
  const std::vector<ProcessStatus>& processes = status->processes;
  std::error_code unknown;
  const bool is_directory = std::filesystem::is_directory(command.output, unknown);
  if (!is_directory && processes.size() != 1) {
    return UsageError(
        fmt::format("-o {}: the session '{}' has {} processes, and a file takes one; name a "
                    "directory that exists. The session goes on",
                    command.output.string(), command.name, processes.size()));
  }
  for (const ProcessStatus& process : processes) {
    if (!HasSnapshots(process)) continue;
    auto found = ProcessOfSession(command.name, process.pid, process.generation);
    if (!found) return Unexpected(found.error());
    const auto path =
        is_directory ? command.output / UnusedSnapshotName(command.output, *found) : command.output;
    const auto subject = SnapshotSubject::Of(*std::move(found));
    if (!subject) return Unexpected(subject.error());
    const auto taken = subject->Take(path, SnapshotCare::kRunning);
    if (!taken) return Unexpected(taken.error());
    Print(stderr, TakenText(path, *subject, *taken));
  }
  return {};
}

// All that can be; of those that are still there, the last one's error.
Expected<void> ClearOrphans() {
  std::map<int, Error> problems;
  for (const Orphan& orphan : FindOrphans()) {
    const Expected<void> disabled = DisableRunning(orphan.pid);
    if (!disabled) problems.emplace(orphan.pid, disabled.error());
  }
  Expected<void> outcome;
  for (const Orphan& left : FindOrphans()) {
    const auto problem = problems.find(left.pid);
    if (problem != problems.end()) outcome = Unexpected(problem->second);
  }
  return outcome;
}

Expected<int> Show(const Expected<SessionStatus>& status, SessionOutput output) {
  if (!status) return Unexpected(status.error());
  Print(stdout, output == SessionOutput::kJson ? SessionJson(*status)
                                               : SessionText(*status, ColourOf(stdout)));
  return kDone;
}

}  // namespace

Expected<int> Execute(const SessionStartCommand& command) {
  const Expected<void> own = RequireOwnProcesses(command.start.scope);
  if (!own) return Unexpected(own.error());
  Expected<Below> below = Below{};
  if (!command.program.empty()) below = PrepareBelow(command.program);
  if (!below) return Unexpected(below.error());

  SessionStart start = command.start;
  start.agent = FindAgent();
  const Expected<void> started = StartSession(start);
  if (!started) return Unexpected(started.error());
  const Expected<SessionStatus> status = QuerySession(command.start.name);
  if (!status) return Unexpected(status.error());
  if (!command.program.empty()) return ExecuteBelow(status->control, *std::move(below));
  Print(stderr, StartedText(*status));
  return kDone;
}

Expected<int> Execute(const SessionExecCommand& command) {
  Expected<Below> below = PrepareBelow(command.program);
  if (!below) return Unexpected(below.error());
  const Expected<SessionStatus> status = QuerySession(command.name);
  if (!status) return Unexpected(status.error());
  return ExecuteBelow(status->control, *std::move(below));
}

Expected<int> Execute(const SessionUpdateCommand& command) {
  const Expected<void> own = RequireOwnProcesses(command.add);
  if (!own) return Unexpected(own.error());
  return Show(UpdateSession(command.name, command.add, command.drop), SessionOutput::kText);
}

Expected<int> Execute(const SessionQueryCommand& command) {
  return Show(QuerySession(command.name), command.output);
}

Expected<int> Execute(const SessionListCommand& command) {
  const Survey survey = SurveySessionsAndRuns();
  const Expected<void> cleared =
      command.orphans == OrphanCare::kClear ? ClearOrphans() : Expected<void>{};
  const std::vector<Orphan> orphans = FindOrphans();
  Print(stdout, command.output == SessionOutput::kJson
                    ? SessionListJson(survey.sessions, survey.runs, orphans)
                    : SessionListText(survey.sessions, survey.runs, orphans));
  if (!survey.silent.empty()) {
    Print(stderr, fmt::format("leakgate: not answering: {}; stopped, busy, or another user's?\n",
                              NamesText(survey.silent)));
  }
  if (!cleared) return Unexpected(cleared.error());
  return kDone;
}

Expected<int> Execute(const SessionStopCommand& command) {
  if (const int pid = std::atoi(command.name.c_str()); pid > 0) {
    const Expected<void> is_free = RequireInNoRun(pid);
    if (!is_free) return Unexpected(is_free.error());
  }
  const Expected<void> taken = TakeAll(command);
  if (!taken) return Unexpected(taken.error());
  const Expected<std::vector<std::string>> problems = StopSession(command.name);
  if (!problems) return Unexpected(problems.error());
  for (const std::string& problem : *problems) {
    PrintMessage(fmt::format("still traced: {}", problem));
  }
  return kDone;
}

}  // namespace leakgate
