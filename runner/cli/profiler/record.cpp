#include "runner/cli/profiler/record.h"

#include <fmt/format.h>

#include <system_error>

#include "runner/base/path_text.h"
#include "runner/cli/commands/run.h"
#include "runner/cli/installation.h"
#include "runner/cli/profiler/session_values.h"
#include "runner/cli/terminal.h"
#include "runner/process/process_image.h"
#include "runner/recording/file/read_recording.h"
#include "runner/region/amount.h"
#include "runner/run/program_watch.h"
#include "runner/sessions/session_client.h"
#include "runner/sessions/session_owner.h"
#include "runner/snapshot/view/heading_text.h"

namespace leakgate {
namespace {

std::vector<std::string> MissingFrom(const RecordedFile& file) {
  std::vector<std::string> lines = file.closing.missing;
  for (std::string& line : DropsText(file.closing.process)) lines.push_back(std::move(line));
  return lines;
}

// Tells of what was executed before the last program, which the user means.
std::string BeforeText(const std::vector<RecordedFile>& files) {
  return fmt::format("  {} ran in its process before: see {}*\n",
                     FormatCount(static_cast<std::int64_t>(files.size()) - 1, "program"),
                     Printable(PathText(files.back().path) + ".before"));
}

int ExitCodeOf(const RecordOutcome& outcome) {
  if (outcome.program.ShellCode() != 0) return outcome.program.ShellCode();
  return outcome.problems.empty() ? kExitPass : static_cast<int>(ExitCode::kInconclusive);
}

// A session of its own traces the process, so that it can be attached to, and let go again.
SessionStart SessionFor(const RecordCommand& command, std::filesystem::path file) {
  SessionStart start;
  start.name = fmt::format("record-{}", *command.pid);
  start.scope.pids = {*command.pid};
  start.stack_depth = command.request.stack_depth;
  start.stack_events = command.request.stack_events;
  start.agent = FindAgent();
  start.recording = {.file = std::move(file),
                     .directory = {},
                     .existing = command.request.existing,
                     .request = command.request.events};
  return start;
}

// Another recording of the process has the session's name already.
Error WithoutSession(const RecordCommand& command, const std::string& session, const Error& error) {
  const Expected<SessionStatus> other = QuerySession(session);
  if (error.exit_code != ExitCode::kUsage || !other) return error;
  return {fmt::format("PID {} is traced already, by leakgate with PID {}; end that first",
                      *command.pid, other->owner_pid)};
}

// Returns nullptr if the process is still suspended at its first instruction.
std::unique_ptr<EventBuffers> BuffersOf(const std::string& session, int pid) {
  const Expected<FoundProcess> process = ProcessOfSession(session, pid);
  if (!process) return nullptr;
  return EventBuffers::Attach(process->region).value_or(nullptr);
}

// Waits until the process ends, the time is over, a signal asks for the end, another command does,
// or the session has been stopped or killed.
void AwaitEnd(const RecordCommand& command, const std::string& session,
              const BlockedSignals& signals) {
  const auto begin = std::chrono::steady_clock::now();
  const Expected<SessionStatus> status = QuerySession(session);
  if (!status) return;
  const UniqueFd owner_end = WatchEnd(status->owner_pid);
  std::unique_ptr<EventBuffers> buffers;
  const UniqueFd end = WatchEnd(*command.pid);
  while (true) {
    const auto signal = signals.Take(std::chrono::milliseconds(50));
    if (signal && AsksToEnd(signal->number)) return;
    if (HasEnded(end) || HasEnded(owner_end)) return;
    if (buffers == nullptr) buffers = BuffersOf(session, *command.pid);
    if (buffers != nullptr && buffers->IsStopAsked()) return;
    if (command.length && std::chrono::steady_clock::now() - begin >= *command.length) return;
  }
}

// What there is if somebody else has stopped the session, or has killed its owner.
Expected<StoppedSession> FromFile(const std::filesystem::path& file) {
  StoppedSession stopped;
  RecordingVisitor visitor;
  visitor.closing = [&](RecordingClosing&& closing) {
    stopped.recordings.push_back({file, std::move(closing)});
  };
  LEAKGATE_TRY(ReadRecording(file, visitor));
  // Only a file that was cut off has no time at which it was finished.
  const bool is_whole =
      !stopped.recordings.empty() && stopped.recordings.front().closing.process.finished_ns != 0;
  if (!is_whole) {
    stopped.unwritten.push_back(
        fmt::format("{}: whoever recorded has been killed; what there is by then can be read: "
                    "leakgate recording show {}",
                    PathText(file), PathText(file)));
  }
  return stopped;
}

Expected<int> RecordRunning(const RecordCommand& command) {
  // From here on, so that no signal ends this command and leaves a session that nobody ends.
  std::optional<BlockedSignals> signals(std::in_place);
  const std::filesystem::path& output = command.request.output;
  LEAKGATE_TRY(AtomicFile::CheckGrowing(output, command.request.existing));
  std::error_code unknown;
  const SessionStart start = SessionFor(command, std::filesystem::absolute(output, unknown));
  LEAKGATE_TRY(RequireInNoOtherSession(*command.pid, start.name));
  if (const Expected<void> started = StartSession(start); !started) {
    return Unexpected(WithoutSession(command, start.name, started.error()));
  }
  if (!command.is_quiet) {
    Print(stderr, fmt::format("leakgate: recording PID {} into {}; end it with Ctrl-C\n",
                              *command.pid, Printable(PathText(output))));
  }
  AwaitEnd(command, start.name, *signals);
  signals.reset();
  Expected<StoppedSession> stopped = StopSession(start.name);
  if (!stopped && stopped.error().exit_code == ExitCode::kUsage) {
    stopped = FromFile(start.recording.file);
  }
  if (!stopped) return Unexpected(stopped.error());
  for (const RecordedFile& file : stopped->recordings) {
    if (!command.is_quiet || !MissingFrom(file).empty()) Print(stderr, RecordedText(file));
  }
  for (const std::string& problem : stopped->problems) PrintMessage(problem);
  if (!stopped->unwritten.empty()) return InconclusiveError(stopped->unwritten.front());
  if (!stopped->recordings.empty()) return kExitPass;
  return InconclusiveError(fmt::format(
      "PID {0} has done nothing that could be recorded; if it is suspended, continue it "
      "meanwhile: kill -CONT {0}",
      *command.pid));
}

}  // namespace

std::string RecordedText(const RecordedFile& file) {
  const RecordingClosing& closing = file.closing;
  const std::string path = Printable(PathText(file.path));
  std::string text = fmt::format("leakgate: {}: {} in {}", path,
                                 FormatCount(static_cast<std::int64_t>(closing.events), "event"),
                                 FormatDuration(std::chrono::nanoseconds(closing.end_ns)));
  if (closing.waits != 0) {
    text += fmt::format("; threads waited {} for a buffer",
                        FormatDuration(std::chrono::nanoseconds(closing.waited_ns)));
  }
  text += "\n";
  for (const std::string& sentence : MissingFrom(file)) {
    text += fmt::format("  incomplete: {}\n", sentence);
  }
  return text + fmt::format("  look at it:  leakgate recording show {}\n", path);
}

Expected<std::filesystem::path> MakeRecordingDirectory(const std::filesystem::path& directory) {
  std::error_code failure;
  std::filesystem::create_directories(directory, failure);
  if (failure) {
    return UsageError(fmt::format("--record {}: cannot make the directory: {}", PathText(directory),
                                  failure.message()));
  }
  return std::filesystem::absolute(directory, failure);
}

void Declare(RecordCommand& command, OptionList& options) {
  RecordRequest& request = command.request;
  options.Add("-o,--output", FileWord("FILE"), request.output,
              "The file to write, which can be read from the beginning on");
  options.AddFlag("--force", command.replaces, "Replace FILE if it is there already");
  options.Add("--pid", TextWord("PID"), command.pid, ParsePid,
              "Record this process, which runs already, until it ends or Ctrl-C is typed");
  options.Add("--for", TextWord("TIME"), command.length, ParseDuration,
              "Of --pid: end the recording after so long: 500ms, 5s, 2min, 1h");
  DeclareBuffers(command.buffers, options);
  AddStacks(request.stack_events, options);
  options.Add("--stack-depth", TextWord("FRAMES"), request.stack_depth, ParseStackDepth,
              fmt::format("Record at most so many frames of a stack, 1 to {}. Default: {}",
                          kMaxStackDepth, kDefaultStackDepth));
  options.AddFlag("-q,--quiet", command.is_quiet, "Print nothing but what is missing");
}

Expected<void> Complete(RecordCommand& command, const ProgramLine& program) {
  const bool has_program = !program.empty() && !program.front().empty();
  if (has_program == command.pid.has_value()) {
    return UsageError(
        "name a program or a process to record: leakgate record -o FILE -- PROGRAM, leakgate "
        "record -o FILE --pid PID");
  }
  RecordRequest& request = command.request;
  if (request.output.empty()) {
    return UsageError("no file for the recording; name it: leakgate record -o FILE ...");
  }
  if (command.length && !command.pid) {
    return UsageError("--for is for --pid; leave it out, or use timeout(1)");
  }
  if (has_program) {
    request.program = program.front();
    request.arguments.assign(program.begin() + 1, program.end());
  }
  LEAKGATE_TRY_ASSIGN(const EventRequest events,
                      BuffersOf(command.buffers, has_program ? WhenFull::kWait : WhenFull::kLose));
  request.events = events;
  request.existing =
      command.replaces ? AtomicFile::Existing::kReplaced : AtomicFile::Existing::kRefused;
  return {};
}

Expected<int> Execute(RecordCommand command) {
  if (command.pid) return RecordRunning(command);
  command.request.agent = FindAgent();
  LEAKGATE_TRY_ASSIGN(const RecordOutcome outcome, Record(command.request));
  const std::vector<RecordedFile>& files = outcome.files;
  for (const RecordedFile& file : files) {
    const bool is_last = &file == &files.back();
    if ((is_last && !command.is_quiet) || !MissingFrom(file).empty()) {
      Print(stderr, RecordedText(file));
    }
  }
  if (files.size() > 1 && !command.is_quiet) Print(stderr, BeforeText(files));
  for (const std::string& problem : outcome.problems) PrintMessage(problem);
  return ExitCodeOf(outcome);
}

void DeclareSwitch(std::optional<int>& pid, OptionList& options) {
  options.Add("--pid", TextWord("PID"), pid, ParsePid, "The process that is recorded");
}

Expected<void> CompleteSwitch(const std::optional<int>& pid, const ProgramLine&) {
  if (pid) return {};
  return UsageError("no process; name it: leakgate recording pause --pid PID");
}

Expected<int> SwitchRecording(int pid, RecordingSwitch to) {
  LEAKGATE_TRY_ASSIGN(const FoundProcess process, FindProcess(pid));
  LEAKGATE_TRY_ASSIGN(const std::unique_ptr<EventBuffers> buffers,
                      EventBuffers::Attach(process.region));
  if (buffers == nullptr) {
    return UsageError(fmt::format(
        "PID {0} is traced, but not recorded; record it: leakgate record -o FILE --pid {0}", pid));
  }
  if (to == RecordingSwitch::kStop) {
    buffers->AskToStop();
  } else {
    buffers->SetOn(to == RecordingSwitch::kContinue);
  }
  return kExitPass;
}

}  // namespace leakgate
