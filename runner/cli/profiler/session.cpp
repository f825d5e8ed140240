#include "runner/cli/profiler/session.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <map>

#include "runner/attach/attach.h"
#include "runner/attach/program_environment.h"
#include "runner/base/descriptors.h"
#include "runner/base/path_text.h"
#include "runner/cli/installation.h"
#include "runner/cli/profiler/record.h"
#include "runner/cli/profiler/replace_process.h"
#include "runner/cli/profiler/session_values.h"
#include "runner/cli/profiler/snapshot.h"
#include "runner/cli/terminal.h"
#include "runner/host/named_sockets.h"
#include "runner/process/proc_files.h"
#include "runner/process/process_image.h"
#include "runner/run/preparation.h"
#include "runner/sessions/session_client.h"

namespace leakgate {
namespace {

Expected<void> RequireOwnProcess(int pid) {
  const std::optional<unsigned> user = UserOfProcess(pid);
  if (!user) return UsageError(fmt::format("there is no process with PID {}", pid));
  if (user == EffectiveUser() || EffectiveUser() == 0) return {};
  return UsageError(
      fmt::format("PID {} is another user's; start the session as that user, or as root", pid));
}

Expected<void> RequireOwnProcesses(const SessionScope& scope, const std::string& session) {
  const bool has_others = scope.users.are_all || !scope.users.uids.empty();
  if (has_others && EffectiveUser() != 0) {
    return UsageError(
        "--user: only root's sessions trace other users' processes; start the session as root, or "
        "as that user");
  }
  for (const int pid : scope.pids) {
    const Expected<void> checked = RequireOwnProcess(pid);
    if (!checked) return checked;
    const Expected<void> is_in_no_run = RequireInNoRun(pid);
    if (!is_in_no_run) return is_in_no_run;
    const Expected<void> is_free = RequireInNoOtherSession(pid, session);
    if (!is_free) return is_free;
  }
  return {};
}

struct Below {
  std::filesystem::path program;
  std::vector<std::string> arguments;
};

// Finds out what is wrong with the program before anything is started.
Expected<Below> PrepareBelow(const std::vector<std::string>& program) {
  LEAKGATE_TRY_ASSIGN(const std::filesystem::path path, FindProgram(program.front()));
  LEAKGATE_TRY(RequireAgent(FindAgent()));
  return Below{path, program};
}

// Replaces this process by the program, which inherits all that it has.
Expected<int> ExecuteBelow(const std::string& control, Below below) {
  LEAKGATE_TRY_ASSIGN(auto environment,
                      ProgramEnvironment(OwnEnvironment(), {FindAgent(), control}));
  return UsageError(fmt::format("{}: cannot be executed: {}", PathText(below.program),
                                ReplaceProcess(below.program, below.arguments, environment)));
}

// Returns whether a snapshot of the process can be taken: it must have been traced.
bool HasSnapshots(const ProcessStatus& process) {
  return process.state != ProcessState::kFailed && process.state != ProcessState::kStarting;
}

// A file can take the snapshot of one process; a directory takes those of any number.
Expected<void> TakeAll(const SessionStopCommand& command) {
  if (command.output.empty()) return {};
  LEAKGATE_TRY_ASSIGN(const SessionStatus status, QuerySession(command.name));
  const std::vector<ProcessStatus>& processes = status.processes;
  if (IsSnapshotFile(command.output) && processes.size() != 1) {
    return UsageError(fmt::format(
        "-o {}: the session '{}' has {} processes, and a file takes one; name a directory",
        PathText(command.output), command.name, processes.size()));
  }
  for (const ProcessStatus& process : processes) {
    if (!HasSnapshots(process)) continue;
    LEAKGATE_TRY_ASSIGN(auto found,
                        ProcessOfSession(command.name, process.pid, process.generation));
    LEAKGATE_TRY_ASSIGN(const std::filesystem::path path, PlaceOfSnapshot(command.output, found));
    LEAKGATE_TRY_ASSIGN(const auto subject, SnapshotSubject::Of(std::move(found)));
    LEAKGATE_TRY_ASSIGN(const auto taken, subject.Take(path, SnapshotCare::kRunning));
    Print(stderr, TakenText(path, subject, taken));
  }
  return {};
}

// Ends the tracing of as many processes as it can. Returns the error of the last one that is still
// there.
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

Expected<int> Show(const Expected<SessionStatus>& status, OutputForm output) {
  if (!status) return Unexpected(status.error());
  Print(stdout, output == OutputForm::kJson ? SessionJson(*status)
                                            : SessionText(*status, ColourOf(stdout)));
  return kExitPass;
}

OptionValue ImageWord() { return TextWord("IMAGE[:ARGUMENT]"); }

Unexpected NotOneName() {
  return UsageError(
      "name one session, for example: leakgate session start web --image nginx; see leakgate "
      "session --help");
}

void AddName(std::string& name, OptionList& options) {
  const auto set_name = [&name](const std::string& text) -> Expected<void> {
    if (!name.empty()) return NotOneName();
    name = text;
    return CheckSessionName(name);
  };
  options.AddEach("name", TextWord("NAME"), set_name, "");
}

Expected<void> RequireName(const std::string& name) {
  if (name.empty()) return NotOneName();
  return {};
}

Expected<void> RefuseProgram(const ProgramLine& program) {
  if (program.empty()) return {};
  return UsageError(
      "only leakgate session start and exec run a program; leave out what follows --");
}

// `text` is a user's name or number, or "all".
Expected<void> AddUser(const std::string& text, SessionUsers& users) {
  if (text == "all") {
    users.are_all = true;
    return {};
  }
  unsigned uid = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, uid);
  if (error != std::errc() || rest != end) {
    const std::optional<unsigned> user = FindUser(text);
    if (!user) {
      return UsageError(fmt::format(
          "--user {}: no such user; write a user's name or number, or all for every user", text));
    }
    uid = *user;
  }
  users.uids.insert(uid);
  return {};
}

}  // namespace

void PrintIfStopped(int pid) {
  if (!IsStoppedBySignal(pid)) return;
  PrintMessage(fmt::format(
      "PID {0} is stopped, as it was; once it is sent SIGCONT it goes on, traced: kill -CONT {0}",
      pid));
}

void DeclareReach(SessionReach& reach, OptionList& options) {
  options.AddFlag(
      "--system", reach, SessionReach::kSystem,
      "Trace every process of --image from its first instruction on, whoever starts "
      "it and wherever, also other users' (of --user, if that is given). Only root can. "
      "Each program that begins is held for a moment, to be looked at");
  options.AddFlag(
      "--this-user", reach, SessionReach::kThisUser,
      "Trace every process of --image of this user, wherever it is started. Needs no "
      "rights, and promises less: processes are found within some 10 ms and traced from "
      "then on; what ends sooner is missed, and counted");
}

Expected<void> CompleteReach(SessionReach reach, SessionScope& scope) {
  if (reach == SessionReach::kBelow) return {};
  if (scope.images.empty()) {
    return UsageError("--system and --this-user are for --image; name one: --image nginx --system");
  }
  if (reach == SessionReach::kThisUser) {
    if (scope.users.are_all || !scope.users.uids.empty()) {
      return UsageError(
          "--this-user traces no other users' processes; leave --user out, or write --system");
    }
    if (EffectiveUser() == 0 || YamaScope() == 0) return {};
    return UsageError(fmt::format(
        "--this-user: the kernel lets nobody but root trace what is not started below leakgate "
        "(kernel.yama.ptrace_scope is {}); set it to 0, or write --system as root",
        YamaScope()));
  }
  if (EffectiveUser() != 0) {
    return UsageError(
        "--system: only root can trace what others start; run it as root, or write --this-user for "
        "your own processes");
  }
  if (scope.users.uids.empty()) scope.users.are_all = true;
  return {};
}

void Declare(SessionStartCommand& command, OptionList& options) {
  SessionScope& scope = command.start.scope;
  AddName(command.start.name, options);
  options.Add("--image", ImageWord(), scope.images, ParseImage,
              "Trace every process of that image which starts below the session: the file's name, "
              "or with a slash its path. Where the image hosts programs, as an interpreter does, "
              "ARGUMENT tells them apart: python3:server.py. * and ? stand for any text and any "
              "character. Repeatable");
  options.Add("--pid", TextWord("PID"), scope.pids, ParsePid, "Trace this process. Repeatable");
  options.AddEach(
      "--user", TextWord("USER"),
      [&scope](const std::string& text) { return AddUser(text, scope.users); },
      "Trace processes of --image that are this user's, too: a name, a number, or all. Only root "
      "can. Repeatable");
  DeclareReach(command.start.reach, options);
  options.Add("--expire", TextWord("TIME"), command.start.length, ParseDuration,
              "End the session by itself after so long, as leakgate session stop does: 10s, 30min, "
              "8h. Default: when it is stopped");
  options.Add("--stack-depth", TextWord("FRAMES"), command.start.stack_depth, ParseStackDepth,
              fmt::format("Record at most so many frames of a stack, 1 to {}. Default: {}",
                          kMaxStackDepth, kDefaultStackDepth));
  AddStacks(command.start.stack_events, options);
  options.Add("--record", FileWord("DIR"), command.start.recording.directory,
              "Also record each event of each process, into IMAGE-PID.recording in DIR, which is "
              "made if it is not there. See leakgate record");
  DeclareBuffers(command.buffers, options);
  DeclareRing(command.ring, options);
}

void Declare(SessionExecCommand& command, OptionList& options) { AddName(command.name, options); }

void Declare(SessionUpdateCommand& command, OptionList& options) {
  AddName(command.name, options);
  options.Add("--add-image", ImageWord(), command.add.images, ParseImage,
              "As --image of leakgate session start. Repeatable");
  options.Add("--add-pid", TextWord("PID"), command.add.pids, ParsePid,
              "Trace this process, too. Repeatable");
  options.Add("--drop-image", ImageWord(), command.drop.images, ParseImage,
              "Trace no further process of that image. Repeatable");
  options.Add("--drop-pid", TextWord("PID"), command.drop.pids, ParsePid,
              "Trace this process no longer. Repeatable");
}

void Declare(SessionQueryCommand& command, OptionList& options) {
  AddName(command.name, options);
  options.AddFlag("--json", command.output, OutputForm::kJson, "For machines");
}

void Declare(SessionListCommand& command, OptionList& options) {
  options.AddFlag("--json", command.output, OutputForm::kJson, "For machines");
  options.AddFlag("--clear", command.orphans, OrphanCare::kClear,
                  "Have processes whose session's owner was killed traced no more");
}

void Declare(SessionStopCommand& command, OptionList& options) {
  AddName(command.name, options);
  options.Add("-o,--output", FileWord("FILE|DIR"), command.output,
              "First take a snapshot of each process, also of those that have ended. A directory, "
              "which is made if it is absent, takes any number; a file (NAME.snapshot) takes one");
}

Expected<void> Complete(SessionStartCommand& command, const ProgramLine& program) {
  if (Expected<void> has = RequireName(command.start.name); !has) return has;
  if (command.start.scope.images.empty() && command.start.scope.pids.empty()) {
    return UsageError(
        "nothing to trace; name images or PIDs: leakgate session start web --image nginx; "
        "--image '*' is all");
  }
  LEAKGATE_TRY_ASSIGN(const SnapshotRingSettings ring, RingOf(command.ring));
  command.start.ring = ring;
  const Expected<void> reaches = CompleteReach(command.start.reach, command.start.scope);
  if (!reaches) return reaches;
  command.program = program;
  if (command.start.recording.IsAsked()) {
    LEAKGATE_TRY_ASSIGN(const EventRequest buffers, BuffersOf(command.buffers, WhenFull::kLose));
    command.start.recording.request = buffers;
  } else if (command.buffers.AreGiven()) {
    return UsageError("--buffers, --buffer-size and --when-full are for --record DIR; add it");
  }
  return {};
}

Expected<void> Complete(SessionExecCommand& command, const ProgramLine& program) {
  if (Expected<void> has = RequireName(command.name); !has) return has;
  if (program.empty()) {
    return UsageError(
        "no program to execute; write it after two dashes: leakgate session exec NAME -- COMMAND");
  }
  command.program = program;
  return {};
}

Expected<void> Complete(SessionUpdateCommand& command, const ProgramLine& program) {
  if (Expected<void> none = RefuseProgram(program); !none) return none;
  return RequireName(command.name);
}

Expected<void> Complete(SessionQueryCommand& command, const ProgramLine& program) {
  if (Expected<void> none = RefuseProgram(program); !none) return none;
  return RequireName(command.name);
}

Expected<void> Complete(SessionListCommand&, const ProgramLine& program) {
  return RefuseProgram(program);
}

Expected<void> Complete(SessionStopCommand& command, const ProgramLine& program) {
  if (Expected<void> none = RefuseProgram(program); !none) return none;
  return RequireName(command.name);
}

Expected<int> Execute(const SessionStartCommand& command) {
  LEAKGATE_TRY(RequireOwnProcesses(command.start.scope, command.start.name));
  Expected<Below> below = Below{};
  if (!command.program.empty()) below = PrepareBelow(command.program);
  if (!below) return Unexpected(below.error());

  SessionStart start = command.start;
  start.agent = FindAgent();
  if (start.recording.IsAsked()) {
    LEAKGATE_TRY_ASSIGN(const std::filesystem::path directory,
                        MakeRecordingDirectory(start.recording.directory));
    start.recording.directory = directory;
  }
  if (start.ring.IsAsked()) {
    LEAKGATE_TRY(MakeSnapshotDirectory(start.ring.directory));
    std::error_code unknown;
    start.ring.directory = std::filesystem::absolute(start.ring.directory, unknown);
  }
  LEAKGATE_TRY(StartSession(start));
  LEAKGATE_TRY_ASSIGN(const SessionStatus status, QuerySession(command.start.name));
  if (!command.program.empty()) return ExecuteBelow(status.control, *std::move(below));
  Print(stderr, StartedText(status));
  for (const int pid : command.start.scope.pids) PrintIfStopped(pid);
  return kExitPass;
}

Expected<int> Execute(const SessionExecCommand& command) {
  LEAKGATE_TRY_ASSIGN(Below below, PrepareBelow(command.program));
  LEAKGATE_TRY_ASSIGN(const SessionStatus status, QuerySession(command.name));
  return ExecuteBelow(status.control, std::move(below));
}

Expected<int> Execute(const SessionUpdateCommand& command) {
  LEAKGATE_TRY(RequireOwnProcesses(command.add, command.name));
  const Expected<int> shown =
      Show(UpdateSession(command.name, command.add, command.drop), OutputForm::kText);
  for (const int pid : command.add.pids) {
    if (shown) PrintIfStopped(pid);
  }
  return shown;
}

Expected<int> Execute(const SessionQueryCommand& command) {
  return Show(QuerySession(command.name), command.output);
}

Expected<int> Execute(const SessionListCommand& command) {
  const Survey survey = SurveySessionsAndRuns();
  const Expected<void> cleared =
      command.orphans == OrphanCare::kClear ? ClearOrphans() : Expected<void>{};
  const std::vector<Orphan> orphans = FindOrphans();
  Print(stdout, command.output == OutputForm::kJson
                    ? SessionListJson(survey.sessions, survey.runs, orphans)
                    : SessionListText(survey.sessions, survey.runs, orphans));
  if (!survey.silent.empty()) {
    Print(stderr, fmt::format("leakgate: not answering: {}; stopped, busy, or another user's?\n",
                              NamesText(survey.silent)));
  }
  if (!cleared) return Unexpected(cleared.error());
  return kExitPass;
}

Expected<int> Execute(const SessionStopCommand& command) {
  if (const int pid = std::atoi(command.name.c_str()); pid > 0) {
    LEAKGATE_TRY(RequireInNoRun(pid));
  }
  if (const Expected<void> taken = TakeAll(command); !taken) {
    Error error = taken.error();
    error.message += fmt::format(". The session '{}' goes on", command.name);
    return Unexpected(error);
  }
  LEAKGATE_TRY_ASSIGN(const StoppedSession stopped, StopSession(command.name));
  for (const std::string& problem : stopped.problems) {
    PrintMessage(fmt::format("still traced: {}", problem));
  }
  if (!stopped.failure.empty()) PrintMessage(stopped.failure);
  for (const RecordedFile& file : stopped.recordings) Print(stderr, RecordedText(file));
  if (stopped.unwritten.empty()) return kExitPass;
  return InconclusiveError(stopped.unwritten.front());
}

}  // namespace leakgate
