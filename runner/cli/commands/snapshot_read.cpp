#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "runner/attribution/code_owner.h"
#include "runner/base/atomic_file.h"
#include "runner/budget/read_budget.h"
#include "runner/cli/commands/snapshot.h"
#include "runner/cli/terminal.h"
#include "runner/cli/write_reports.h"
#include "runner/snapshot/view/export_names.h"
#include "runner/snapshot/view/snapshot_diff.h"
#include "runner/snapshot/view/snapshot_groups.h"
#include "runner/symbols/symbol_files.h"

namespace leakgate {
namespace {

TextStyle StyleOfStandardOutput() {
  std::error_code error;
  return {ColourOf(stdout), std::filesystem::current_path(error).string()};
}

void PrintJson(const nlohmann::ordered_json& json) { Print(stdout, ConsoleJson(json, 2)); }

// Returns the directories as absolute paths, which is what modules are known by.
Expected<std::vector<std::filesystem::path>> SymbolsOf(const SnapshotReading& reading) {
  std::vector<std::filesystem::path> directories;
  for (const std::filesystem::path& directory : reading.symbols) {
    std::error_code error;
    if (!std::filesystem::is_directory(directory, error)) {
      return UsageError(
          fmt::format("--symbols {}: no such directory; correct the path", directory.string()));
    }
    directories.push_back(std::filesystem::absolute(directory));
  }
  return directories;
}

Expected<SnapshotQuery> QueryOf(const SnapshotReading& reading) {
  SnapshotQuery query{.filters = reading.filters, .budgets = {}, .since = reading.since};
  if (reading.budgets.empty()) return query;
  Expected<std::vector<BudgetFile>> budgets = LoadBudgetFiles(reading.budgets);
  if (!budgets) return Unexpected(budgets.error());
  query.budgets = *std::move(budgets);
  return query;
}

Expected<std::unique_ptr<SnapshotView>> Read(const std::filesystem::path& file,
                                             const SnapshotReading& reading) {
  Expected<SnapshotQuery> query = QueryOf(reading);
  if (!query) return Unexpected(query.error());
  Expected<std::vector<std::filesystem::path>> symbols = SymbolsOf(reading);
  if (!symbols) return Unexpected(symbols.error());
  auto view = std::make_unique<SnapshotView>(*std::move(query),
                                             Symbolizer(IsRuntimeModule, *std::move(symbols)));
  const Expected<void> read = view->Read(file);
  if (!read) return Unexpected(read.error());
  return view;
}

// While an object of this class lives, a command may ask servers for debug files. At its end it
// prints which servers were given up.
class WithDebugServers {
 public:
  WithDebugServers() { LimitPatienceWithServers(); }
  ~WithDebugServers() {
    const std::optional<SilentServers>& silent = ServersGivenUp();
    if (!silent) return;
    PrintMessage(
        fmt::format("no answer in {} s from {}: asked no more, so functions and lines "
                    "may be missing; see DEBUGINFOD_URLS",
                    silent->patience.count(), silent->urls));
  }
  WithDebugServers(const WithDebugServers&) = delete;
  WithDebugServers& operator=(const WithDebugServers&) = delete;
};

// A broken pipe is no error, since nobody reads the rest. A full disk is one.
Expected<void> ExportToStandardOutput(SnapshotView& view, SnapshotFormat format) {
  const Expected<void> written =
      ExportSnapshot(view, format, std::cout, SurroundingsOfThisProcess());
  if (!written) return written;
  std::cout.flush();
  if (std::cout.good()) return {};
  return InconclusiveError("cannot write to standard output; name a file with -o FILE");
}

Expected<void> ExportTo(const std::filesystem::path& path, SnapshotView& view,
                        SnapshotFormat format) {
  Expected<AtomicFile> file = AtomicFile::Create(path);
  if (!file) return Unexpected(file.error());
  const Expected<void> written =
      ExportSnapshot(view, format, file->out(), SurroundingsOfThisProcess());
  if (!written) return written;
  return file->Commit();
}

// Where an export goes. An empty path is standard output.
struct ExportPlace {
  std::filesystem::path path;
  bool is_ours = false;  // the user has not named it, so it must not replace a file
};

// Nobody reads an export on a terminal, and pprof's is binary: it gets a file, as in a directory.
ExportPlace PlaceOfExport(const SnapshotExportCommand& command) {
  std::error_code error;
  const bool is_directory = std::filesystem::is_directory(command.output, error);
  if (!is_directory && (!command.output.empty() || !IsTerminal(stdout))) return {command.output};
  return {command.output / ExportNameFor(*command.format, command.files.front()), true};
}

Expected<void> CheckIsNew(const ExportPlace& place) {
  std::error_code error;
  const auto status = std::filesystem::symlink_status(place.path, error);
  if (!place.is_ours || status.type() == std::filesystem::file_type::not_found) return {};
  return UsageError(fmt::format("{}: there is such a file already; name another with -o FILE",
                                place.path.string()));
}

Choices<GroupBy> Groupings() {
  Choices<GroupBy> groupings = {"WHAT", "group", "{}", {}};
  for (const GroupBy by : AllGroupings()) groupings.all.emplace_back(Word(by), by);
  return groupings;
}

// The message names the table last, because that is shown without the option.
const Choices<SnapshotLayout> kViews = {
    "VIEW",
    "view",
    "--view tree or --view table",
    {{"table", SnapshotLayout::kGroups}, {"tree", SnapshotLayout::kTree}}};

Choices<SnapshotFormat> Formats() { return {"FORMAT", "format", "{}", SnapshotFormats()}; }

template <typename ReadingCommand>
void DeclareReading(ReadingCommand& command, OptionList& options) {
  options.AddArgument("file", FileWord("FILE"), command.files);
  options.Add("--filter", TextWord("PATTERN"), command.reading.filters,
              "Only blocks with such a frame in their stack: a glob of a function's name without "
              "its parameters, of a source file if it has a '/', of a module as module:libnet.so*. "
              "Repeatable: each must match");
  options.Add("--symbols", FileWord("DIR"), command.reading.symbols,
              "Look for binaries and debug files here, too, by build-id. Repeatable. A server is "
              "asked only if DEBUGINFOD_URLS names one");
}

void DeclareBudgets(SnapshotReading& reading, OptionList& options) {
  options.Add("--budgets", FileWord("FILE|DIR"), reading.budgets,
              "Tell the component of each block, as these budget files have it. Repeatable");
}

Expected<void> CheckShowOptions(const SnapshotShowCommand& command) {
  const ShowOptions& options = command.options;
  if (options.group_by && options.layout == SnapshotLayout::kTree) {
    return UsageError("--view tree and --group-by contradict each other; leave one out");
  }
  const bool shows_age = options.layout == SnapshotLayout::kGroups &&
                         options.group_by.value_or(GroupBy::kAge) == GroupBy::kAge;
  if (!command.reading.since.empty() && !shows_age) {
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
  options.Add("--since", FileWord("FILE|DIR"), command.reading.since,
              "Tell the age of blocks by this earlier snapshot of the process, or by all in a "
              "directory, as snapshot periodic leaves them. Repeatable");
  options.AddChoice("--view", kViews, command.options.layout,
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
}

void Declare(SnapshotExportCommand& command, OptionList& options) {
  DeclareReading(command, options);
  DeclareBudgets(command.reading, options);
  options.AddChoice("--format", Formats(), command.format,
                    "folded (flamegraph.pl, inferno), pprof, speedscope, heaptrack "
                    "(heaptrack_print, heaptrack_gui) or json");
  options.Add("-o,--output", FileWord("FILE|DIR"), command.output,
              "In a DIR, the file is named after the snapshot, as its reader wants it. Default: "
              "standard output; on a terminal, such a file in the working directory");
}

Expected<void> Complete(SnapshotShowCommand& command, const ProgramLine&) {
  if (command.files.size() == 1) return CheckShowOptions(command);
  return UsageError("no snapshot, or several; name one: leakgate snapshot show FILE");
}

Expected<void> Complete(SnapshotDiffCommand& command, const ProgramLine&) {
  if (command.files.size() == 2) return {};
  return UsageError(
      "not two snapshots; name the earlier and the later one: leakgate snapshot "
      "diff BEFORE AFTER");
}

Expected<void> Complete(SnapshotExportCommand& command, const ProgramLine&) {
  if (command.files.size() != 1) {
    return UsageError("no snapshot, or several; name one: leakgate snapshot export FILE");
  }
  if (command.format) return CheckExportName(*command.format, command.output);
  return Unexpected(ParseChoice(Formats(), "--format", "").error());
}

Expected<int> Execute(const SnapshotShowCommand& command) {
  const WithDebugServers servers;
  const Expected<std::unique_ptr<SnapshotView>> view = Read(command.files.front(), command.reading);
  if (!view) return Unexpected(view.error());
  if (command.output == OutputForm::kJson) {
    PrintJson(ShowJson(**view, command.options));
  } else {
    Print(stdout, ShowText(**view, command.options, StyleOfStandardOutput()));
  }
  return kExitPass;
}

Expected<int> Execute(const SnapshotDiffCommand& command) {
  const WithDebugServers servers;
  Expected<std::vector<std::filesystem::path>> symbols = SymbolsOf(command.reading);
  if (!symbols) return Unexpected(symbols.error());
  const Expected<SnapshotDiff> diff =
      DiffSnapshots(command.files[0], command.files[1],
                    {.filters = command.reading.filters, .symbols = *std::move(symbols)});
  if (!diff) return Unexpected(diff.error());
  if (command.output == OutputForm::kJson) {
    PrintJson(DiffJson(*diff, command.top));
  } else {
    Print(stdout, DiffText(*diff, command.top, StyleOfStandardOutput()));
  }
  return kExitPass;
}

Expected<int> Execute(const SnapshotExportCommand& command) {
  const ExportPlace place = PlaceOfExport(command);
  if (const Expected<void> is_new = CheckIsNew(place); !is_new) return Unexpected(is_new.error());
  const WithDebugServers servers;
  const Expected<std::unique_ptr<SnapshotView>> view = Read(command.files.front(), command.reading);
  if (!view) return Unexpected(view.error());
  const Expected<void> written = place.path.empty()
                                     ? ExportToStandardOutput(**view, *command.format)
                                     : ExportTo(place.path, **view, *command.format);
  if (!written) return Unexpected(written.error());
  if (place.is_ours) PrintMessage(fmt::format("written: {}", place.path.string()));
  return kExitPass;
}

}  // namespace leakgate
