#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <deque>

#include "runner/base/atomic_file.h"
#include "runner/base/path_text.h"
#include "runner/cli/installation.h"
#include "runner/cli/option_values.h"
#include "runner/cli/profiler/session.h"
#include "runner/cli/profiler/session_values.h"
#include "runner/cli/profiler/snapshot.h"
#include "runner/cli/terminal.h"
#include "runner/host/named_sockets.h"
#include "runner/process/proc_files.h"
#include "runner/region/amount.h"
#include "runner/region/region_words.h"
#include "runner/run/program_watch.h"
#include "runner/sessions/session_client.h"
#include "runner/sessions/session_owner.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;

std::string NotRecordedText(const SnapshotClosing& closing) {
  std::int64_t drops = 0;
  for (const std::uint64_t count : closing.drops) drops += static_cast<std::int64_t>(count);
  return drops == 0 ? "" : fmt::format(", {} not recorded", FormatCount(drops, "event"));
}

// A series of snapshots, of which the newest files are kept.
class Series {
 public:
  Series(const SnapshotPeriodicCommand& command, const SnapshotSubject& subject)
      : command_(command),
        subject_(subject),
        stem_(fmt::format("{}-{}-", FileNameIn(subject.process().status.program.name),
                          subject.process().status.pid)),
        last_number_(HighestNumber()) {}

  Expected<void> TakeNext() {
    ++taken_;
    const fs::path path =
        command_.directory / fmt::format("{}{:04}.snapshot", stem_, ++last_number_);
    const Amount live = LiveIn(subject_.region().CurrentTotals());
    LEAKGATE_TRY_ASSIGN([[maybe_unused]] const auto answer, subject_.Take(path, command_.care));
    Print(stdout, LineText(live, path));
    last_ = live;
    Keep(path);
    return {};
  }
  std::uint64_t taken() const { return taken_; }

 private:
  // Returns the highest number that a file of an earlier series has; 0 if there is none.
  [[nodiscard]] std::uint64_t HighestNumber() const {
    std::uint64_t highest = 0;
    std::error_code error;
    for (fs::directory_iterator entry(command_.directory, error), end; !error && entry != end;
         entry.increment(error)) {
      const std::string name = PathText(entry->path().filename());
      if (!name.starts_with(stem_) || !entry->is_regular_file(error)) continue;
      const char* const digits = name.c_str() + stem_.size();
      std::uint64_t number = 0;
      const auto [rest, problem] = std::from_chars(digits, name.c_str() + name.size(), number);
      const bool is_of_series = problem == std::errc() && std::string_view(rest) == ".snapshot";
      if (is_of_series) highest = std::max(highest, number);
    }
    return highest;
  }

  // Returns text such as "14:03:22 1.2 MiB in 3210 blocks live  +64 B (+1 block)
  // redis-12-0002.snapshot".
  std::string LineText(const Amount& live, const fs::path& path) const {
    const std::string growth =
        last_ ? FormatChange({live.bytes - last_->bytes, live.blocks - last_->blocks}) : "";
    return fmt::format("{:%H:%M:%S}  {}  {}  {}\n", fmt::localtime(std::time(nullptr)),
                       PadRight(FormatAmount(live) + " live", 32), PadRight(growth, 28),
                       Printable(PathText(path)));
  }

  void Keep(const fs::path& path) {
    files_.push_back(path);
    if (files_.size() <= command_.kept) return;
    RemoveWrittenFile(files_.front());
    files_.pop_front();
  }

  const SnapshotPeriodicCommand& command_;
  const SnapshotSubject& subject_;
  const std::string stem_;  // of the files' names: "redis-server-12-"
  std::uint64_t last_number_ = 0;
  std::uint64_t taken_ = 0;
  std::optional<Amount> last_;
  std::deque<fs::path> files_;
};

SessionScope ScopeOf(const SnapshotConfigCommand& command) {
  SessionScope scope;
  if (command.pid) scope.pids.insert(*command.pid);
  if (command.image) scope.images.push_back(*command.image);
  return scope;
}

std::string NameOf(const SnapshotConfigCommand& command) {
  return command.pid ? fmt::format("PID {}", *command.pid) : TextOf(*command.image);
}

// A session that is there has its reach, as its stacks.
Expected<void> RequireReach(const SnapshotConfigCommand& command) {
  if (command.reach == SessionReach::kBelow) return {};
  LEAKGATE_TRY_ASSIGN(const SessionStatus status, QuerySession(command.session));
  if (status.watch.reach == command.reach) return {};
  return UsageError(fmt::format(
      "the session '{}' runs already and traces other processes than --system or --this-user says, "
      "and that stays until it is stopped; name another session with --session NAME",
      command.session));
}

// A session records the stacks of the same events for all that it traces.
Expected<void> RequireStacks(const SnapshotConfigCommand& command) {
  if (!command.stack_events) return {};
  LEAKGATE_TRY_ASSIGN(const SessionStatus status, QuerySession(command.session));
  if (status.stack_events == *command.stack_events) return {};
  return UsageError(fmt::format(
      "the session '{}' takes stacks of {}, and that stays until it is stopped; leave --stacks "
      "out, or name another session with --session NAME",
      command.session, StackEventsText(status.stack_events)));
}

Expected<int> Enable(const SnapshotConfigCommand& command) {
  Expected<void> done;
  if (command.pid) done = RequireInNoOtherSession(*command.pid, command.session);
  if (!done) return Unexpected(done.error());
  if (IsSessionName(command.session)) {
    LEAKGATE_TRY(RequireStacks(command));
    LEAKGATE_TRY(RequireReach(command));
    LEAKGATE_TRY_ASSIGN([[maybe_unused]] const auto answer,
                        UpdateSession(command.session, ScopeOf(command), {}));
  } else {
    SessionScope scope = ScopeOf(command);
    done = CompleteReach(command.reach, scope);
    if (!done) return Unexpected(done.error());
    done = StartSession({.name = command.session,
                         .scope = std::move(scope),
                         .stack_events = command.stack_events.value_or(kDefaultStackEvents),
                         .agent = FindAgent(),
                         .reach = command.reach});
  }
  if (!done) return Unexpected(done.error());
  const bool is_below = command.reach == SessionReach::kBelow;
  const std::string next =
      command.pid ? fmt::format("leakgate snapshot take --pid {}", *command.pid)
      : is_below
          ? fmt::format("start it: leakgate session exec {} -- COMMAND", command.session)
          : fmt::format("start it; see what it has: leakgate session query {}", command.session);
  PrintMessage(
      fmt::format("{} is enabled, in the session {}; {}", NameOf(command), command.session, next));
  if (command.pid) PrintIfStopped(*command.pid);
  return kExitPass;
}

// The session ends when it names no process and no image any more, unless it has recorded
// something: that is somebody's to look at, and processes of the image may still run.
Expected<int> Disable(const SnapshotConfigCommand& command) {
  LEAKGATE_TRY_ASSIGN(const auto status, UpdateSession(command.session, {}, ScopeOf(command)));
  if (!status.scope.images.empty() || !status.scope.pids.empty()) return kExitPass;
  if (command.image && !status.processes.empty()) {
    PrintMessage(fmt::format(
        "{0} is named no more; the session {1} keeps what its processes have recorded, and goes on "
        "with those that run: leakgate session query {1}, leakgate session stop {1}",
        NameOf(command), command.session));
    return kExitPass;
  }
  LEAKGATE_TRY_ASSIGN([[maybe_unused]] const auto answer, StopSession(command.session));
  return kExitPass;
}

bool Names(const SessionScope& scope, const SnapshotConfigCommand& command) {
  if (command.pid) return scope.pids.contains(*command.pid);
  return std::find(scope.images.begin(), scope.images.end(), *command.image) != scope.images.end();
}

Expected<int> Query(const SnapshotConfigCommand& command) {
  std::string text;
  LEAKGATE_TRY_ASSIGN(const std::optional<FoundProcess> of_run,
                      command.pid ? FindInRuns(*command.pid) : std::nullopt);
  if (of_run) {
    text = fmt::format("{}: enabled, by the run with PID {}\n", NameOf(command), (*of_run).run_pid);
  }
  const Survey survey = SurveySessionsAndRuns();
  for (const SessionStatus& session : survey.sessions) {
    if (!Names(session.scope, command)) continue;
    text += fmt::format("{}: enabled, in the session {}\n", Printable(NameOf(command)),
                        Printable(session.name));
  }
  if (text.empty() && command.pid && !UserOfProcess(*command.pid)) {
    return UsageError(fmt::format("there is no process with PID {}", *command.pid));
  }
  if (text.empty()) text = fmt::format("{}: not enabled\n", Printable(NameOf(command)));
  Print(stdout, text);
  return kExitPass;
}

const Choices<SnapshotSetting> kSettings = {"SETTING",
                                            "setting",
                                            "{}",
                                            {{"enable", SnapshotSetting::kEnable},
                                             {"disable", SnapshotSetting::kDisable},
                                             {"query", SnapshotSetting::kQuery}}};

Expected<SnapshotSetting> ParseSetting(const std::string& text) {
  for (const auto& [word, setting] : kSettings.all) {
    if (word == text) return setting;
  }
  return UsageError(fmt::format("'{}': write {}", text, OneOf(WordsOf(kSettings))));
}

// Declares the options that `take` and `periodic` have in common.
template <typename TakingCommand>
void DeclareTaking(TakingCommand& command, OptionList& options) {
  options.Add("--pid", TextWord("PID"), command.pid, ParsePid, "The process");
  options.Add("--session", TextWord("NAME"), command.session, ParseSessionName,
              "The session that traces it. Default: whichever session or run does");
  options.AddFlag("--consistent", command.care, SnapshotCare::kConsistent,
                  "Stop the process while its blocks are copied, so that all are of one moment");
}

Expected<void> RequirePid(const std::optional<int>& pid) {
  if (pid) return {};
  return UsageError("no process; name it: leakgate snapshot take --pid PID");
}

}  // namespace

void Declare(SnapshotTakeCommand& command, OptionList& options) {
  DeclareTaking(command, options);
  options.Add(
      "-o,--output", FileWord("FILE|DIR"), command.output,
      "Where to write: a file (NAME.snapshot), which must not exist yet, or a directory for "
      "IMAGE-PID-TIME.snapshot, which is made if it is absent. Default: the current one");
}

void Declare(SnapshotPeriodicCommand& command, OptionList& options) {
  DeclareTaking(command, options);
  const auto set_directory = [&command](const std::string& directory) -> Expected<void> {
    if (!directory.empty()) command.directory = directory;
    return {};
  };
  options.AddOnce("-o,--output", FileWord("DIR"), set_directory,
                  "The directory for IMAGE-PID-NUMBER.snapshot, made if it is absent. Numbers go "
                  "on behind those of files that are there. Default: the current one");
  options.Add("--every", TextWord("TIME"), command.every, ParseDuration,
              "How often: 500ms, 5s, 2min, 1h");
  options.Add("--count", TextWord("K"), command.kept, ParseCount,
              "Keep the last K files. Default: 10");
  options.Add("--stop-after", TextWord("N"), command.most, ParseCount, "End after N snapshots");
}

void Declare(SnapshotConfigCommand& command, OptionList& options) {
  options.Add("--pid", TextWord("PID"), command.pid, ParsePid, "The process");
  options.Add("--image", TextWord("IMAGE[:ARGUMENT]"), command.image, ParseImage,
              "As of leakgate session start");
  options.Add("--session", TextWord("NAME"), command.session, ParseSessionName,
              "The session that is to trace it. Default: one named default, which is made where "
              "there is none");
  DeclareReach(command.reach, options);
  AddStacks(command.stack_events, options);
  options.AddArgument("setting", {kSettings.value_word, ValueKind::kChoice, WordsOf(kSettings)},
                      command.setting_word);
}

Expected<void> Complete(SnapshotTakeCommand& command, const ProgramLine&) {
  return RequirePid(command.pid);
}

Expected<void> Complete(SnapshotPeriodicCommand& command, const ProgramLine&) {
  if (Expected<void> has = RequirePid(command.pid); !has) return has;
  if (command.every) return {};
  return UsageError("how often? for example: leakgate snapshot periodic --pid PID --every 5s");
}

Expected<void> Complete(SnapshotConfigCommand& command, const ProgramLine&) {
  LEAKGATE_TRY_ASSIGN(const SnapshotSetting setting, ParseSetting(command.setting_word));
  command.setting = setting;
  if (command.pid.has_value() == command.image.has_value()) {
    return UsageError(
        "name one PID or one image: leakgate snapshot config --pid PID enable, leakgate snapshot "
        "config --image NAME enable");
  }
  if (command.stack_events && command.setting != SnapshotSetting::kEnable) {
    return UsageError("--stacks is for leakgate snapshot config enable; leave it out");
  }
  if (command.reach != SessionReach::kBelow && command.setting != SnapshotSetting::kEnable) {
    return UsageError(
        "--system and --this-user are for leakgate snapshot config enable; leave them out");
  }
  return {};
}

std::string TakenText(const fs::path& path, const SnapshotSubject& subject,
                      const SnapshotSubject::Taken& taken) {
  const std::string file = Printable(PathText(path));
  std::string text = fmt::format("leakgate: {}: {} of PID {}{}", file,
                                 FormatAmount(AmountOf(taken.closing.bytes, taken.closing.blocks)),
                                 subject.process().status.pid, NotRecordedText(taken.closing));
  if (taken.stopped.count() != 0) {
    text += fmt::format("; it was stopped for {}", FormatDuration(taken.stopped));
  }
  return text + fmt::format("\n  look at it:  leakgate snapshot show {}\n", file);
}

Expected<int> Execute(const SnapshotTakeCommand& command) {
  LEAKGATE_TRY_ASSIGN(const auto subject, SnapshotSubject::Find(*command.pid, command.session));
  LEAKGATE_TRY_ASSIGN(const fs::path path, PlaceOfSnapshot(command.output, subject.process()));
  LEAKGATE_TRY_ASSIGN(const auto taken, subject.Take(path, command.care));
  Print(stderr, TakenText(path, subject, taken));
  return kExitPass;
}

Expected<int> Execute(const SnapshotPeriodicCommand& command) {
  LEAKGATE_TRY_ASSIGN(const auto subject, SnapshotSubject::Find(*command.pid, command.session));
  if (IsSnapshotFile(command.directory)) {
    return UsageError(fmt::format("-o {}: a file takes one snapshot; name a directory",
                                  PathText(command.directory)));
  }
  LEAKGATE_TRY(MakeSnapshotDirectory(command.directory));
  const BlockedSignals signals;
  Series series(command, subject);
  for (;;) {
    const bool is_last = subject.HasEnded();
    LEAKGATE_TRY(series.TakeNext());
    if (command.most && series.taken() >= *command.most) return kExitPass;
    if (is_last) {
      PrintMessage(fmt::format("PID {} has ended", *command.pid));
      return kExitPass;
    }
    const auto signal = signals.Take(*command.every);
    if (signal && AsksToEnd(signal->number)) return kExitPass;
  }
}

Expected<int> Execute(const SnapshotConfigCommand& command) {
  if (command.pid && command.setting != SnapshotSetting::kQuery) {
    LEAKGATE_TRY(RequireInNoRun(*command.pid));
  }
  switch (command.setting) {
    case SnapshotSetting::kEnable:
      return Enable(command);
    case SnapshotSetting::kDisable:
      return Disable(command);
    case SnapshotSetting::kQuery:
      break;
  }
  return Query(command);
}

}  // namespace leakgate
