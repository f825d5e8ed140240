#include "runner/cli/snapshot_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "runner/cli/numbers.h"
#include "runner/cli/repeatable_option.h"
#include "runner/snapshot_view/group_words.h"

namespace leakgate {
namespace {

Expected<void> ReadCount(const char* option, const std::optional<std::string>& text,
                         std::optional<std::size_t>& count) {
  if (!text) return {};
  const Expected<std::uint64_t> number = ParseCount(option, *text);
  if (!number) return Unexpected(number.error());
  count = *number;
  return {};
}

}  // namespace

SnapshotOptions::SnapshotOptions(CLI::App& app)
    : snapshot_(app.add_subcommand("snapshot")->require_subcommand(0, 1)),
      taking_(*snapshot_),
      show_(snapshot_->add_subcommand("show")),
      diff_(snapshot_->add_subcommand("diff")),
      export_(snapshot_->add_subcommand("export")) {
  AddShow();
  AddDiff();
  AddExport();
}

void SnapshotOptions::AddStacks(CLI::App& command) {
  command.add_option("file", raw_.files)->type_name("FILE");
  Repeatable(
      command.add_option("--filter", raw_.filters,
                         "Only blocks with such a frame in their stack: a glob of a function's "
                         "name without its parameters, of a source file if it has a '/', of a "
                         "module as module:libnet.so*. Repeatable: each must match"),
      "PATTERN");
  Repeatable(command.add_option("--symbols", raw_.symbols,
                                "Look for binaries and debug files here, too, by build-id. "
                                "Repeatable. A server is asked only if DEBUGINFOD_URLS names one"),
             "DIR");
}

void SnapshotOptions::AddReading(CLI::App& command) {
  AddStacks(command);
  Repeatable(command.add_option(
                 "--budgets", raw_.budgets,
                 "Tell the component of each block, as these budget files have it. Repeatable"),
             "FILE|DIR");
}

void SnapshotOptions::AddShow() {
  AddReading(*show_);
  show_
      ->add_option("--group-by", raw_.group_by,
                   "Only one table: site (the first frame of your own code), stack, module, "
                   "component, thread, window (the test), age, kind or size; or freed-by: what has "
                   "been freed, by who did so, if the session took stacks of free")
      ->type_name("WHAT");
  Repeatable(
      show_->add_option("--since", raw_.since,
                        "Tell the age of blocks by this earlier snapshot of the process, or "
                        "by all in a directory, as snapshot periodic leaves them. Repeatable"),
      "FILE|DIR");
  show_
      ->add_option("--view", raw_.view,
                   "A table (default), or a tree: who called whom, from main inwards")
      ->type_name("VIEW");
  show_->add_option("--top", raw_.top, "Show the N largest. Of a tree: of each frame's callees")
      ->type_name("N");
  show_->add_option("--depth", raw_.depth, "Show N lines of a stack, or levels of a tree")
      ->type_name("N");
  show_->add_flag("--json", raw_.is_json, "For machines");
}

void SnapshotOptions::AddDiff() {
  AddStacks(*diff_);
  diff_->add_option("--top", raw_.top, "Show the N largest")->type_name("N");
  diff_->add_flag("--json", raw_.is_json, "For machines");
}

void SnapshotOptions::AddExport() {
  AddReading(*export_);
  export_
      ->add_option("--format", raw_.format,
                   "folded (flamegraph.pl, inferno), pprof, speedscope, heaptrack "
                   "(heaptrack_print, heaptrack_gui) or json")
      ->type_name("FORMAT");
  export_->add_option("-o,--output", raw_.output, "Default: standard output")->type_name("FILE");
}

Expected<ShowOptions> SnapshotOptions::MakeShowOptions() const {
  ShowOptions options;
  if (raw_.view && *raw_.view != "tree" && *raw_.view != "table") {
    return UsageError(
        fmt::format("--view '{}': no such view; write --view tree or --view table", *raw_.view));
  }
  if (raw_.view && *raw_.view == "tree") options.layout = SnapshotLayout::kTree;
  if (raw_.group_by) {
    options.group_by = ParseGroupBy(*raw_.group_by);
    if (!options.group_by) {
      return UsageError(
          fmt::format("--group-by '{}': no such group; write site, stack, module, component, "
                      "thread, window, age, kind, size or freed-by",
                      *raw_.group_by));
    }
  }
  if (raw_.group_by && options.layout == SnapshotLayout::kTree) {
    return UsageError("--view tree and --group-by contradict each other; leave one out");
  }
  const bool shows_age = options.layout == SnapshotLayout::kGroups &&
                         options.group_by.value_or(GroupBy::kAge) == GroupBy::kAge;
  if (!raw_.since.empty() && !shows_age) {
    return UsageError("--since tells the age of blocks; write --group-by age, or leave it out");
  }
  if (options.group_by == GroupBy::kComponent && raw_.budgets.empty()) {
    return UsageError("--group-by component needs budget files; name them with --budgets DIR");
  }
  Expected<void> read = ReadCount("--top", raw_.top, options.top);
  if (read) read = ReadCount("--depth", raw_.depth, options.depth);
  if (!read) return Unexpected(read.error());
  return options;
}

SnapshotReading SnapshotOptions::Reading() const {
  return {raw_.filters,
          {raw_.budgets.begin(), raw_.budgets.end()},
          {raw_.symbols.begin(), raw_.symbols.end()},
          {raw_.since.begin(), raw_.since.end()}};
}

SnapshotOutput SnapshotOptions::Output() const {
  return raw_.is_json ? SnapshotOutput::kJson : SnapshotOutput::kText;
}

Expected<Command> SnapshotOptions::MakeShow() const {
  if (raw_.files.size() != 1) {
    return UsageError("no snapshot, or several; name one: leakgate snapshot show FILE");
  }
  const Expected<ShowOptions> options = MakeShowOptions();
  if (!options) return Unexpected(options.error());
  return Command(SnapshotShowCommand{raw_.files[0], Reading(), *options, Output()});
}

Expected<Command> SnapshotOptions::MakeDiff() const {
  if (raw_.files.size() != 2) {
    return UsageError(
        "not two snapshots; name the earlier and the later one: leakgate snapshot "
        "diff BEFORE AFTER");
  }
  SnapshotDiffCommand command{raw_.files[0], raw_.files[1], Reading(), {}, Output()};
  const Expected<void> read = ReadCount("--top", raw_.top, command.top);
  if (!read) return Unexpected(read.error());
  return Command(std::move(command));
}

Expected<Command> SnapshotOptions::MakeExport() const {
  if (raw_.files.size() != 1) {
    return UsageError("no snapshot, or several; name one: leakgate snapshot export FILE");
  }
  const std::optional<SnapshotFormat> format = ParseSnapshotFormat(raw_.format.value_or(""));
  if (!format) {
    return UsageError(
        fmt::format("--format '{}': no such format; write folded, pprof, speedscope, "
                    "heaptrack or json",
                    raw_.format.value_or("")));
  }
  return Command(SnapshotExportCommand{raw_.files[0], Reading(), *format, raw_.output});
}

Expected<Command> SnapshotOptions::Make() const {
  if (taking_.is_parsed()) return taking_.Make();
  if (show_->parsed()) return MakeShow();
  if (diff_->parsed()) return MakeDiff();
  if (export_->parsed()) return MakeExport();
  return UsageError(
      "no command; there are config, take, periodic, show, diff and export; see leakgate snapshot "
      "--help");
}

bool IsSnapshotCommandLine(const std::vector<std::string>& arguments) {
  return !arguments.empty() && arguments[0] == "snapshot";
}

}  // namespace leakgate
