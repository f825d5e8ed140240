#include "runner/cli/profiler/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "runner/base/path_text.h"
#include "runner/base/sizes_and_times.h"
#include "runner/cli/terminal.h"
#include "runner/cli/write_reports.h"
#include "runner/recording/view/recording_moment.h"
#include "runner/snapshot/file/snapshot_writer.h"
#include "runner/snapshot/view/export_names.h"
#include "runner/snapshot/view/snapshot_groups.h"

namespace leakgate {
namespace {

using By = GroupBy;
using Kind = RecordingTime::Kind;

using ReadOne = std::optional<std::uint64_t> (*)(std::string_view text);

// Reads "A..B" of which one may be missing, or one number that stands for both.
std::optional<NumberRange> ReadRange(std::string_view text, ReadOne read) {
  const std::size_t dots = text.find("..");
  const std::string_view first = text.substr(0, dots);
  const std::string_view last = dots == std::string_view::npos ? text : text.substr(dots + 2);
  if (first.empty() && last.empty()) return std::nullopt;
  NumberRange range;
  if (!first.empty()) {
    const auto least = read(first);
    if (!least) return std::nullopt;
    range.least = *least;
  }
  if (!last.empty()) {
    const auto most = read(last);
    if (!most || *most < range.least) return std::nullopt;
    range.most = *most;
  }
  return range;
}

Choices<By> RecordingGroupings() { return {"WHAT", "group", "{}", WordsOf(kRecordingGroupings)}; }

Choices<Weigh> Weights() { return {"SUM", "sum", "{}", AllWordsOf<Weigh>()}; }

Choices<RecordingFormat> FormatsOfRecordings() {
  return {"FORMAT", "format", "{}", RecordingFormats()};
}

template <typename Target>
void AddWeigh(Target& weigh, OptionList& options) {
  options.AddChoice(
      "--weigh", Weights(), weigh,
      "The sum that groups are ordered by, and that trees and profiles have: peak "
      "(what was live when most was; default), outstanding (allocated and not "
      "freed), total, or temporary (freed by its thread before that allocated again)");
}

template <typename ReadingCommand>
void DeclareRecordingReading(ReadingCommand& command, OptionList& options) {
  options.AddArgument("file", FileWord("FILE"), command.files);
  RecordingReading& reading = command.reading;
  options.Add("--from", TextWord("MOMENT"), reading.from, ParseRecordingTime,
              "Count from this moment on: a time since the begin (2.5s, 300ms), mark:NAME, "
              "test:SUITE.NAME, suite:NAME. NAME#2 is the second time");
  options.Add("--to", TextWord("MOMENT"), reading.to, ParseRecordingTime,
              "Count up to this moment; of a test or a suite, its end");
  options.Add("--test", TextWord("TEST"), reading.test,
              "Count from the test's begin to its end: --from test:TEST --to test:TEST");
  options.Add("--size", TextWord("A..B"), reading.size_bytes, ParseSizes,
              "Only blocks of such sizes: 1KiB..1MiB, 4096.., ..64");
  options.Add("--lifetime", TextWord("A..B"), reading.lifetime_ns, ParseLifetimes,
              "Only blocks that lived so long: 10us..1s, 1s.., ..1ms. What was not freed has lived "
              "until the end");
  DeclareStackReading(reading.stacks, options);
}

template <typename Command>
void DeclareAt(Command& command, OptionList& options) {
  options.Add("--at", TextWord("MOMENT"), command.at, ParseRecordingTime,
              "What was live at this moment, as snapshots show it: a moment as of --to, or peak, "
              "where most was live (in --test, or from --from to --to)");
}

// Sets both bounds for --test.
Expected<void> CompleteReading(RecordingReading& reading) {
  if (!reading.test) return CheckInterval(reading.from, reading.to);
  if (reading.from || reading.to) {
    return UsageError("--test stands for --from and --to; leave these out");
  }
  Expected<RecordingTime> time = ParseRecordingTime("--test", "test:" + *reading.test);
  if (!time) return UsageError("--test '': no name; write --test SUITE.NAME");
  reading.from = *time;
  reading.to = *std::move(time);
  return {};
}

Expected<void> CheckAt(const std::optional<RecordingTime>& at, const RecordingReading& reading) {
  if (!at || at->kind == Kind::kPeak || (!reading.from && !reading.to)) return {};
  return UsageError(fmt::format(
      "--at {} is one moment, and needs no interval; leave out --from, --to and --test, or write "
      "--at peak",
      at->text));
}

bool IsOfSnapshots(By by) {
  return std::find(kSnapshotGroupings.begin(), kSnapshotGroupings.end(), by) !=
         kSnapshotGroupings.end();
}

Expected<void> CheckShowOptions(const RecordingShowCommand& command) {
  const ShowRecordingOptions& options = command.options;
  if (options.group_by && options.layout == SnapshotLayout::kTree) {
    return UsageError("--view tree and --group-by contradict each other; leave one out");
  }
  if (options.group_by == By::kComponent && command.reading.stacks.budgets.empty()) {
    return UsageError("--group-by component needs budget files; name them with --budgets DIR");
  }
  if (!command.at) return {};
  if (options.weigh) {
    return UsageError(
        "--at shows what was live at one moment, which is all that can be weighed "
        "there; leave out --weigh");
  }
  const bool is_of_blocks =
      !options.group_by || (options.group_by != By::kFreedBy && IsOfSnapshots(*options.group_by));
  if (is_of_blocks) return {};
  return UsageError(
      fmt::format("--group-by {} is not of one moment; leave out --at", Word(*options.group_by)));
}

// Only a sum that a recording tells of its blocks can be weighed.
Expected<void> CheckWeigh(const std::optional<Weigh>& weigh, const RecordingReading& reading) {
  if (reading.lifetime_ns.HasAll() || weigh != Weigh::kPeak) return {};
  return UsageError(
      "--weigh peak: the peak is not known for blocks that are chosen by --lifetime; "
      "leave out one of the two");
}

using View = std::unique_ptr<RecordingView>;

// How many commits of mappings are kept one by one.
constexpr std::size_t kMostCommits = 20;

Expected<View> Read(const std::filesystem::path& file, const RecordingReading& reading,
                    std::size_t commits) {
  LEAKGATE_TRY_ASSIGN(StackQuery stacks, StackQueryOf(reading.stacks));
  LEAKGATE_TRY_ASSIGN(Symbolizer symbolizer, SymbolizerOf(reading.stacks));
  auto view = std::make_unique<RecordingView>(RecordingQuery{.stacks = std::move(stacks),
                                                             .from = reading.from,
                                                             .to = reading.to,
                                                             .size_bytes = reading.size_bytes,
                                                             .lifetime_ns = reading.lifetime_ns,
                                                             .commits = commits},
                                              std::move(symbolizer));
  LEAKGATE_TRY(view->Read(RecordingFile(file), PathText(file)));
  return view;
}

// Returns the snapshot of a moment. The peak takes one more reading, to be found.
Expected<SnapshotSource> SourceAt(const std::filesystem::path& file,
                                  const RecordingReading& reading, const RecordingTime& at) {
  RecordingMoment moment{.time = at,
                         .occasion = at.text,
                         .size_bytes = reading.size_bytes,
                         .age_ns = reading.lifetime_ns};
  if (at.kind == Kind::kPeak) {
    // The peak is that of all blocks that are shown, whatever becomes of them later.
    RecordingReading whole = reading;
    whole.lifetime_ns = {};
    LEAKGATE_TRY_ASSIGN(const View view, Read(file, whole, 0));
    const NumberRange age = moment.age_ns;
    moment = PeakOf(*view);
    moment.age_ns = age;
  }
  return SnapshotAt(RecordingFile(file), PathText(file), std::move(moment));
}

Expected<std::unique_ptr<SnapshotView>> ReadAt(const std::filesystem::path& file,
                                               const RecordingReading& reading,
                                               const RecordingTime& at) {
  LEAKGATE_TRY_ASSIGN(SnapshotSource source, SourceAt(file, reading, at));
  LEAKGATE_TRY_ASSIGN(StackQuery stacks, StackQueryOf(reading.stacks));
  LEAKGATE_TRY_ASSIGN(Symbolizer symbolizer, SymbolizerOf(reading.stacks));
  auto view = std::make_unique<SnapshotView>(SnapshotQuery{.stacks = std::move(stacks)},
                                             std::move(symbolizer));
  LEAKGATE_TRY(view->Read(std::move(source), PathText(file)));
  return view;
}

Expected<int> ShowAt(const RecordingShowCommand& command) {
  LEAKGATE_TRY_ASSIGN(const std::unique_ptr<SnapshotView> view,
                      ReadAt(command.files.front(), command.reading, *command.at));
  const ShowOptions options{.layout = command.options.layout,
                            .group_by = command.options.group_by,
                            .top = command.options.top,
                            .depth = command.options.depth};
  if (command.output == OutputForm::kJson) {
    PrintJson(ShowJson(*view, options));
  } else {
    Print(stdout, ShowText(*view, options, StyleOfStandardOutput()));
  }
  return kExitPass;
}

// Writes all that the source has, as a snapshot file.
Expected<void> WriteSnapshotFile(const SnapshotSource& source, std::ostream& out) {
  std::unique_ptr<SnapshotWriter> writer;
  std::optional<SnapshotClosing> closing;
  SnapshotVisitor visitor;
  visitor.facts = [&](SnapshotFacts&& facts) {
    writer = std::make_unique<SnapshotWriter>(out, facts);
  };
  visitor.module = [&](SnapshotModule&& module) { writer->Add(module); };
  visitor.window = [&](SnapshotWindow&& window) { writer->Add(window); };
  visitor.thread = [&](SnapshotThread&& thread) { writer->Add(thread); };
  visitor.nodes = [&](std::span<const SnapshotNode> nodes) {
    for (const SnapshotNode& node : nodes) (void)writer->Add(node);
  };
  visitor.blocks = [&](std::span<const LiveBlock> blocks) {
    for (const LiveBlock& block : blocks) writer->Add(block);
    return Expected<void>();
  };
  visitor.mapping = [&](SnapshotMapping&& mapping) { writer->Add(mapping); };
  visitor.closing = [&](SnapshotClosing&& it) { closing = it; };
  if (const Expected<void> read = source(visitor); !read) return read;
  LEAKGATE_TRY_ASSIGN([[maybe_unused]] const auto closing_of_file, writer->Finish(*closing));
  return {};
}

std::filesystem::path NameOfExport(const RecordingExportCommand& command) {
  const std::filesystem::path& file = command.files.front();
  const bool is_recording = file.extension() == ".recording";
  std::filesystem::path name = is_recording ? file.stem() : file.filename();
  if (const auto format = AsSnapshotFormat(*command.format)) return ExportNameFor(*format, name);
  const bool is_trace = command.format == RecordingFormat::kPerfetto;
  return name += is_trace ? ".perfetto-trace" : ".snapshot";
}

Expected<void> ExportAt(const RecordingExportCommand& command, const ExportPlace& place) {
  if (command.format == RecordingFormat::kSnapshot) {
    LEAKGATE_TRY_ASSIGN(const SnapshotSource source,
                        SourceAt(command.files.front(), command.reading, *command.at));
    return WriteExport(place, [&](std::ostream& out) { return WriteSnapshotFile(source, out); });
  }
  LEAKGATE_TRY_ASSIGN(const std::unique_ptr<SnapshotView> view,
                      ReadAt(command.files.front(), command.reading, *command.at));
  const SnapshotFormat format = *AsSnapshotFormat(*command.format);
  return WriteExport(place, [&](std::ostream& out) {
    return ExportSnapshot(*view, format, out, SurroundingsOfThisProcess());
  });
}

Expected<void> CheckFormat(const RecordingExportCommand& command) {
  const RecordingFormat format = *command.format;
  std::string_view word;
  for (const auto& [known, value] : RecordingFormats()) {
    if (value == format) word = known;
  }
  if (MustBeOfMoment(format) && !command.at) {
    return UsageError(fmt::format(
        "--format {} has what was live at one moment; add --at peak, or --at and a time", word));
  }
  if (command.at && !CanBeOfMoment(format)) {
    return UsageError(fmt::format("--format {} has what happened over time; leave out --at", word));
  }
  if (command.weigh && (command.at || !IsProfile(format))) {
    return UsageError("--weigh is for folded, pprof and speedscope without --at; leave it out");
  }
  const bool has_whole_lives =
      format == RecordingFormat::kHeaptrack || format == RecordingFormat::kHtml;
  if (has_whole_lives && !command.at && !command.reading.lifetime_ns.HasAll()) {
    return UsageError(
        fmt::format("--format {} has all that becomes of a block; leave out --lifetime", word));
  }
  if (format == RecordingFormat::kHtml && !command.reading.stacks.budgets.empty()) {
    return UsageError("--format html has no components of a recording; leave out --budgets");
  }
  const Expected<void> sources =
      CheckSourcesAreShown(command.source_root, format == RecordingFormat::kHtml, "--format html");
  if (!sources) return sources;
  const auto same = AsSnapshotFormat(format);
  return same ? CheckExportName(*same, command.output) : Expected<void>();
}

}  // namespace

Expected<NumberRange> ParseSizes(const std::string& option, const std::string& text) {
  if (const auto range = ReadRange(text, ReadSize)) return *range;
  return UsageError(fmt::format(
      "{0} '{1}': not a range of sizes; write for example {0} 1KiB..1MiB, {0} 4096.. or {0} ..64",
      option, text));
}

Expected<NumberRange> ParseLifetimes(const std::string& option, const std::string& text) {
  if (const auto range = ReadRange(text, ReadTimeNs)) return *range;
  return UsageError(fmt::format(
      "{0} '{1}': not a range of times; write for example {0} 10us..1s, {0} 1s.. or {0} ..1ms",
      option, text));
}

void Declare(RecordingShowCommand& command, OptionList& options) {
  DeclareRecordingReading(command, options);
  DeclareAt(command, options);
  DeclareBudgets(command.reading.stacks, options);
  options.AddChoice("--group-by", RecordingGroupings(), command.options.group_by,
                    "Only one table: site (the first frame of your own code), stack, module, "
                    "component, thread, window (the test), kind, size, lifetime; freed-by: what "
                    "has been freed, by who did so, if stacks of free were recorded; commit: what "
                    "the program has mapped itself");
  AddWeigh(command.options.weigh, options);
  options.AddChoice("--view", Views(), command.options.layout,
                    "A table (default), or a tree: who called whom, from main inwards");
  options.Add("--top", TextWord("N"), command.options.top, ParseCount,
              "Show the N largest. Of a tree: of each frame's callees");
  options.Add("--depth", TextWord("N"), command.options.depth, ParseCount,
              "Show N lines of a stack, or levels of a tree");
  options.AddFlag("--json", command.output, OutputForm::kJson, "For machines");
}

void Declare(RecordingDiffCommand& command, OptionList& options) {
  DeclareRecordingReading(command, options);
  AddWeigh(command.options.weigh, options);
  options.Add("--top", TextWord("N"), command.options.top, ParseCount, "Show the N largest");
  options.AddFlag("--json", command.output, OutputForm::kJson, "For machines");
}

void Declare(RecordingExportCommand& command, OptionList& options) {
  DeclareRecordingReading(command, options);
  DeclareAt(command, options);
  DeclareBudgets(command.reading.stacks, options);
  options.AddChoice("--format", FormatsOfRecordings(), command.format,
                    "folded (flamegraph.pl, inferno), pprof or speedscope, of one sum; heaptrack "
                    "(heaptrack_print, heaptrack_gui) or perfetto (ui.perfetto.dev), of all "
                    "events; html (a page for a browser, which answers for any interval); with "
                    "--at also json, or snapshot (for leakgate snapshot)");
  AddWeigh(command.weigh, options);
  options.Add("-o,--output", FileWord("FILE|DIR"), command.output,
              "In a DIR, the file is named after the recording, as its reader wants it. Default: "
              "standard output; on a terminal, such a file in the working directory");
  DeclareSourceRoot(command.source_root, options);
}

Expected<void> Complete(RecordingShowCommand& command, const ProgramLine&) {
  if (command.files.size() != 1) {
    return UsageError("no recording, or several; name one: leakgate recording show FILE");
  }
  if (Expected<void> done = CompleteReading(command.reading); !done) return done;
  if (Expected<void> fits = CheckAt(command.at, command.reading); !fits) return fits;
  if (Expected<void> fits = CheckWeigh(command.options.weigh, command.reading); !fits) return fits;
  return CheckShowOptions(command);
}

Expected<void> Complete(RecordingDiffCommand& command, const ProgramLine&) {
  if (command.files.size() != 2) {
    return UsageError(
        "not two recordings; name the earlier and the later one: leakgate recording diff BEFORE "
        "AFTER");
  }
  if (Expected<void> done = CompleteReading(command.reading); !done) return done;
  if (!command.reading.lifetime_ns.HasAll() && command.options.weigh == Weigh::kPeak) {
    command.options.weigh = Weigh::kTotal;
  }
  return {};
}

Expected<void> Complete(RecordingExportCommand& command, const ProgramLine&) {
  if (command.files.size() != 1) {
    return UsageError("no recording, or several; name one: leakgate recording export FILE");
  }
  if (!command.format)
    return Unexpected(ParseChoice(FormatsOfRecordings(), "--format", "").error());
  if (Expected<void> done = CompleteReading(command.reading); !done) return done;
  if (Expected<void> fits = CheckAt(command.at, command.reading); !fits) return fits;
  if (Expected<void> fits = CheckWeigh(command.weigh, command.reading); !fits) return fits;
  return CheckFormat(command);
}

Expected<int> Execute(const RecordingShowCommand& command) {
  const WithDebugServers servers;
  if (command.at) return ShowAt(command);
  LEAKGATE_TRY_ASSIGN(const View view, Read(command.files.front(), command.reading,
                                            command.options.top.value_or(kMostCommits)));
  if (command.output == OutputForm::kJson) {
    PrintJson(ShowRecordingJson(*view, command.options));
  } else {
    Print(stdout, ShowRecordingText(*view, command.options, StyleOfStandardOutput()));
  }
  return kExitPass;
}

Expected<int> Execute(const RecordingDiffCommand& command) {
  const WithDebugServers servers;
  LEAKGATE_TRY_ASSIGN(const View first, Read(command.files[0], command.reading, 0));
  LEAKGATE_TRY_ASSIGN(const View second, Read(command.files[1], command.reading, 0));
  const RecordingDiff diff = DiffRecordings(*first, *second, command.options.weigh);
  if (command.output == OutputForm::kJson) {
    PrintJson(RecordingDiffJson(diff, command.options));
  } else {
    Print(stdout, RecordingDiffText(diff, command.options, StyleOfStandardOutput()));
  }
  return kExitPass;
}

Expected<int> Execute(const RecordingExportCommand& command) {
  LEAKGATE_TRY_ASSIGN(const ExportPlace place,
                      PlaceOfExport(command.output, NameOfExport(command)));
  LEAKGATE_TRY_ASSIGN(const ReadSource sources, SourcesOf(command.source_root));
  ReportSurroundings surroundings = SurroundingsOfThisProcess();
  surroundings.read_source = sources;
  const WithDebugServers servers;
  if (command.at) {
    LEAKGATE_TRY(ExportAt(command, place));
    return kExitPass;
  }
  LEAKGATE_TRY_ASSIGN(const View view, Read(command.files.front(), command.reading, 0));
  const Weigh weigh =
      command.weigh.value_or(view->tally().HasPeak() ? Weigh::kPeak : Weigh::kTotal);
  LEAKGATE_TRY(WriteExport(place, [&](std::ostream& out) {
    return ExportRecording(*view, *command.format, weigh, out, surroundings);
  }));
  return kExitPass;
}

}  // namespace leakgate
