#include "runner/cli/snapshot_take_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "runner/cli/numbers.h"
#include "runner/cli/session_options.h"
#include "runner/host/named_sockets.h"

namespace leakgate {
namespace {

Expected<SnapshotSetting> ReadSetting(const std::string& text) {
  if (text == "enable") return SnapshotSetting::kEnable;
  if (text == "disable") return SnapshotSetting::kDisable;
  if (text == "query") return SnapshotSetting::kQuery;
  return UsageError(fmt::format("'{}': write enable, disable or query", text));
}

}  // namespace

SnapshotTakeOptions::SnapshotTakeOptions(CLI::App& snapshot)
    : config_(snapshot.add_subcommand("config")),
      take_(snapshot.add_subcommand("take")),
      periodic_(snapshot.add_subcommand("periodic")) {
  for (CLI::App* const command : {config_, take_, periodic_}) {
    command->add_option("--pid", raw_.pid, "The process")->type_name("PID");
  }
  config_->add_option("--image", raw_.image, "As of leakgate session start")
      ->type_name("IMAGE[:ARGUMENT]");
  config_
      ->add_option("--session", raw_.session,
                   "The session that is to trace it. Default: one named default, which is made "
                   "where there is none")
      ->type_name("NAME");
  AddStacksOption(*config_, raw_.stacks);
  config_->add_option("setting", raw_.setting)->type_name("SETTING");
  for (CLI::App* const command : {take_, periodic_}) {
    command
        ->add_option("--session", raw_.session,
                     "The session that traces it. Default: whichever session or run does")
        ->type_name("NAME");
    command->add_flag(
        "--consistent", raw_.is_consistent,
        "Stop the process while its blocks are copied, so that all are of one moment");
  }
  take_->add_option("-o,--output", raw_.output, "Where to write. Default: IMAGE-PID-TIME.snapshot")
      ->type_name("FILE");
  periodic_
      ->add_option("-o,--output", raw_.output,
                   "The directory for IMAGE-PID-NUMBER.snapshot. Default: the current one")
      ->type_name("DIR");
  periodic_->add_option("--every", raw_.every, "How often: 500ms, 5s, 2min, 1h")->type_name("TIME");
  periodic_->add_option("--count", raw_.kept, "Keep the last K files. Default: 10")->type_name("K");
  periodic_->add_option("--stop-after", raw_.most, "End after N snapshots")->type_name("N");
}

Expected<int> SnapshotTakeOptions::ReadPid() const {
  if (raw_.pid) return ParsePid(*raw_.pid);
  return UsageError("no process; name it: leakgate snapshot take --pid PID");
}

Expected<std::string> SnapshotTakeOptions::ReadSession(const std::string& otherwise) const {
  if (!raw_.session) return otherwise;
  const Expected<void> checked = CheckSessionName(*raw_.session);
  if (!checked) return Unexpected(checked.error());
  return *raw_.session;
}

SnapshotCare SnapshotTakeOptions::Care() const {
  return raw_.is_consistent ? SnapshotCare::kConsistent : SnapshotCare::kRunning;
}

Expected<Command> SnapshotTakeOptions::MakeTake() const {
  const Expected<int> pid = ReadPid();
  if (!pid) return Unexpected(pid.error());
  const Expected<std::string> session = ReadSession("");
  if (!session) return Unexpected(session.error());
  return Command(SnapshotTakeCommand{*pid, *session, raw_.output, Care()});
}

Expected<Command> SnapshotTakeOptions::MakePeriodic() const {
  SnapshotPeriodicCommand command;
  const Expected<int> pid = ReadPid();
  if (!pid) return Unexpected(pid.error());
  command.pid = *pid;
  const Expected<std::string> session = ReadSession("");
  if (!session) return Unexpected(session.error());
  command.session = *session;
  if (!raw_.every) {
    return UsageError("how often? for example: leakgate snapshot periodic --pid PID --every 5s");
  }
  const auto every = ParseDuration("--every", *raw_.every);
  if (!every) return Unexpected(every.error());
  command.every = *every;
  if (raw_.kept) {
    const Expected<std::uint64_t> kept = ParseCount("--count", *raw_.kept);
    if (!kept) return Unexpected(kept.error());
    command.kept = *kept;
  }
  if (raw_.most) {
    const Expected<std::uint64_t> most = ParseCount("--stop-after", *raw_.most);
    if (!most) return Unexpected(most.error());
    command.most = *most;
  }
  if (!raw_.output.empty()) command.directory = raw_.output;
  command.care = Care();
  return Command(std::move(command));
}

Expected<Command> SnapshotTakeOptions::MakeConfig() const {
  SnapshotConfigCommand command;
  const Expected<SnapshotSetting> setting = ReadSetting(raw_.setting);
  if (!setting) return Unexpected(setting.error());
  command.setting = *setting;
  if (raw_.pid.has_value() == raw_.image.has_value()) {
    return UsageError(
        "name one PID or one image: leakgate snapshot config --pid PID enable, leakgate snapshot "
        "config --image NAME enable");
  }
  if (raw_.pid) {
    const Expected<int> pid = ParsePid(*raw_.pid);
    if (!pid) return Unexpected(pid.error());
    command.pid = *pid;
  } else {
    const Expected<ImageSelector> image = ParseImageSelector(*raw_.image);
    if (!image) return Unexpected(image.error());
    command.image = *image;
  }
  const Expected<std::string> session = ReadSession(command.session);
  if (!session) return Unexpected(session.error());
  command.session = *session;
  if (raw_.stacks && command.setting != SnapshotSetting::kEnable) {
    return UsageError("--stacks is for leakgate snapshot config enable; leave it out");
  }
  if (raw_.stacks) command.stack_events = kDefaultStackEvents;
  const Expected<void> stacks =
      raw_.stacks ? ReadStacks(raw_.stacks, *command.stack_events) : Expected<void>{};
  if (!stacks) return Unexpected(stacks.error());
  return Command(std::move(command));
}

Expected<Command> SnapshotTakeOptions::Make() const {
  if (take_->parsed()) return MakeTake();
  return periodic_->parsed() ? MakePeriodic() : MakeConfig();
}

}  // namespace leakgate
