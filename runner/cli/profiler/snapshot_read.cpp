#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "runner/cli/profiler/snapshot.h"
#include "runner/cli/terminal.h"
#include "runner/cli/write_reports.h"
#include "runner/snapshot/file/bundle.h"
#include "runner/snapshot/view/diff_page.h"
#include "runner/snapshot/view/export_names.h"
#include "runner/snapshot/view/snapshot_diff.h"
#include "runner/snapshot/view/snapshot_groups.h"

namespace leakgate {
namespace {

Expected<std::unique_ptr<SnapshotView>> Read(const std::filesystem::path& file,
                                             const StackReading& reading,
                                             const std::vector<std::filesystem::path>& since) {
  LEAKGATE_TRY_ASSIGN(StackQuery stacks, StackQueryOf(reading));
  LEAKGATE_TRY_ASSIGN(Symbolizer symbolizer, SymbolizerOf(reading));
  auto view = std::make_unique<SnapshotView>(
      SnapshotQuery{.stacks = std::move(stacks), .since = since}, std::move(symbolizer));
  LEAKGATE_TRY(view->Read(file));
  return view;
}

Choices<GroupBy> Groupings() { return {"WHAT", "group", "{}", WordsOf(kSnapshotGroupings)}; }

Choices<SnapshotFormat> Formats() { return {"FORMAT", "format", "{}", SnapshotFormats()}; }

template <typename ReadingCommand>
void DeclareReading(ReadingCommand& command, OptionList& options) {
  options.AddArgument("file", FileWord("FILE"), command.files);
  DeclareStackReading(command.reading, options);
}

Expected<void> CheckShowOptions(const SnapshotShowCommand& command) {
  const ShowOptions& options = command.options;
  if (options.group_by && options.layout == SnapshotLayout::kTree) {
    return UsageError("--view tree and --group-by contradict each other; leave one out");
  }
  if (options.things == SnapshotThings::kMappings) {
    if (!command.since.empty()) {
      return UsageError(
          "--since tells the age of blocks; of --mapped it is known without: leave it out");
    }
    if (options.group_by == GroupBy::kFreedBy) {
      return UsageError(
          "--mapped and --group-by freed-by contradict each other: who unmaps is not recorded; "
          "leave one out");
    }
  }
  const bool shows_age = options.layout == SnapshotLayout::kGroups &&
                         options.group_by.value_or(GroupBy::kAge) == GroupBy::kAge;
  if (!command.since.empty() && !shows_age) {
    return UsageError("--since tells the age of blocks; write --group-by age, or leave it out");
  }
  if (options.group_by == GroupBy::kComponent && command.reading.budgets.empty()) {
    return UsageError("--group-by component needs budget files; name them with --budgets DIR");
  }
  return {};
}

}  // namespace

void Declare(SnapshotShowCommand& command, OptionList& options) {
  DeclareReading(command, options);
  DeclareBudgets(command.reading, options);
  options.AddChoice("--group-by", Groupings(), command.options.group_by,
                    "Only one table: site (the first frame of your own code), stack, module, "
                    "component, thread, window (the test), age, kind or size; or freed-by: what "
                    "has been freed, by who did so, if the session took stacks of free");
  options.AddFlag("--mapped", command.options.things, SnapshotThings::kMappings,
                  "What the program has mapped itself (mmap), instead of live blocks: by who "
                  "mapped it, and how much of it is in memory");
  options.Add("--since", FileWord("FILE|DIR"), command.since,
              "Tell the age of blocks by this earlier snapshot of the process, or by all in a "
              "directory, as snapshot periodic leaves them. Repeatable");
  options.AddChoice("--view", Views(), command.options.layout,
                    "A table (default), or a tree: who called whom, from main inwards");
  options.Add("--top", TextWord("N"), command.options.top, ParseCount,
              "Show the N largest. Of a tree: of each frame's callees");
  options.Add("--depth", TextWord("N"), command.options.depth, ParseCount,
              "Show N lines of a stack, or levels of a tree");
  options.AddFlag("--json", command.output, OutputForm::kJson, "For machines");
}

void Declare(SnapshotDiffCommand& command, OptionList& options) {
  DeclareReading(command, options);
  options.Add("--top", TextWord("N"), command.top, ParseCount, "Show the N largest");
  options.AddFlag("--json", command.output, OutputForm::kJson, "For machines");
  options.Add("--html", FileWord("FILE"), command.page,
              "Write it as a page for a browser, too: what grew and shrank, its call tree and "
              "flame graph");
  DeclareSourceRoot(command.source_root, options);
}

void Declare(SnapshotExportCommand& command, OptionList& options) {
  DeclareReading(command, options);
  DeclareBudgets(command.reading, options);
  options.AddChoice("--format", Formats(), command.format,
                    "folded (flamegraph.pl, inferno), pprof, speedscope, heaptrack "
                    "(heaptrack_print, heaptrack_gui), json, or html (a page for a browser)");
  options.Add("-o,--output", FileWord("FILE|DIR"), command.output,
              "In a DIR, the file is named after the snapshot, as its reader wants it. Default: "
              "standard output; on a terminal, such a file in the working directory");
  DeclareSourceRoot(command.source_root, options);
}

Expected<void> Complete(SnapshotShowCommand& command, const ProgramLine&) {
  if (command.files.size() == 1) return CheckShowOptions(command);
  return UsageError("no snapshot, or several; name one: leakgate snapshot show FILE");
}

Expected<void> Complete(SnapshotDiffCommand& command, const ProgramLine&) {
  if (command.files.size() != 2) {
    return UsageError(
        "not two snapshots; name the earlier and the later one: leakgate snapshot "
        "diff BEFORE AFTER");
  }
  return CheckSourcesAreShown(command.source_root, !command.page.empty(), "--html FILE");
}

Expected<void> Complete(SnapshotExportCommand& command, const ProgramLine&) {
  if (command.files.size() != 1) {
    return UsageError("no snapshot, or several; name one: leakgate snapshot export FILE");
  }
  if (command.format) {
    const bool has_page = *command.format == SnapshotFormat::kHtml;
    if (const Expected<void> checked =
            CheckSourcesAreShown(command.source_root, has_page, "--format html");
        !checked) {
      return checked;
    }
    return CheckExportName(*command.format, command.output);
  }
  return Unexpected(ParseChoice(Formats(), "--format", "").error());
}

namespace {

// Whether options say what is to be shown of a snapshot. A bundle alone is listed.
bool AsksOfASnapshot(const SnapshotShowCommand& command) {
  const ShowOptions& options = command.options;
  const StackReading& reading = command.reading;
  return options.things != SnapshotThings::kBlocks || options.layout != SnapshotLayout::kGroups ||
         options.group_by || options.top || options.depth || !command.since.empty() ||
         !reading.filters.empty() || !reading.without.empty() || !reading.symbols.empty() ||
         !reading.budgets.empty();
}

}  // namespace

Expected<int> Execute(const SnapshotShowCommand& command) {
  const bool is_listed = !AsksOfASnapshot(command) && IsBundle(command.files.front());
  if (is_listed) return ShowBundle(command.files.front(), command.output);
  const WithDebugServers servers;
  LEAKGATE_TRY_ASSIGN(const std::unique_ptr<SnapshotView> view,
                      Read(command.files.front(), command.reading, command.since));
  if (command.output == OutputForm::kJson) {
    PrintJson(ShowJson(*view, command.options));
  } else {
    Print(stdout, ShowText(*view, command.options, StyleOfStandardOutput()));
  }
  return kExitPass;
}

namespace {

// Tells before anything is read that the page cannot be written.
Expected<void> CheckPage(const SnapshotDiffCommand& command) {
  return command.page.empty() ? Expected<void>() : AtomicFile::CheckPlace(command.page);
}

Expected<void> WritePage(const SnapshotDiffCommand& command, const DiffPage& page,
                         const SnapshotDiff& diff, const ReadSource& sources) {
  if (command.page.empty()) return {};
  LEAKGATE_TRY_ASSIGN(AtomicFile file, AtomicFile::Create(command.page));
  page.Write(diff,
             FilterText({.filters = command.reading.filters, .without = command.reading.without}),
             file.out(), sources);
  return file.Commit();
}

}  // namespace

Expected<int> Execute(const SnapshotDiffCommand& command) {
  const WithDebugServers servers;
  LEAKGATE_TRY_ASSIGN(std::vector<std::filesystem::path> symbols, SymbolsOf(command.reading));
  LEAKGATE_TRY_ASSIGN(const ReadSource sources, SourcesOf(command.source_root));
  LEAKGATE_TRY(CheckPage(command));
  DiffPage page;
  UseStacks use_stacks;
  if (!command.page.empty()) {
    use_stacks = [&](const SnapshotDiff& diff, const ChangedStacks& stacks) {
      page.Take(diff, stacks);
    };
  }
  LEAKGATE_TRY_ASSIGN(const SnapshotDiff diff, DiffSnapshots(command.files[0], command.files[1],
                                                             {.filters = command.reading.filters,
                                                              .without = command.reading.without,
                                                              .symbols = std::move(symbols)},
                                                             use_stacks));
  LEAKGATE_TRY(WritePage(command, page, diff, sources));
  if (command.output == OutputForm::kJson) {
    PrintJson(DiffJson(diff, command.top));
  } else {
    Print(stdout, DiffText(diff, command.top, StyleOfStandardOutput()));
  }
  return kExitPass;
}

Expected<int> Execute(const SnapshotExportCommand& command) {
  LEAKGATE_TRY_ASSIGN(
      const ExportPlace place,
      PlaceOfExport(command.output, ExportNameFor(*command.format, command.files.front())));
  LEAKGATE_TRY_ASSIGN(const ReadSource sources, SourcesOf(command.source_root));
  ReportSurroundings surroundings = SurroundingsOfThisProcess();
  surroundings.read_source = sources;
  const WithDebugServers servers;
  LEAKGATE_TRY_ASSIGN(const std::unique_ptr<SnapshotView> view,
                      Read(command.files.front(), command.reading, {}));
  LEAKGATE_TRY(WriteExport(place, [&](std::ostream& out) {
    return ExportSnapshot(*view, *command.format, out, surroundings);
  }));
  return kExitPass;
}

}  // namespace leakgate
