#include "runner/cli/snapshot_command.h"

#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "runner/attribution/frame_origin.h"
#include "runner/base/atomic_file.h"
#include "runner/budget/read_budget.h"
#include "runner/cli/terminal.h"
#include "runner/cli/write_reports.h"
#include "runner/snapshot_view/show_diff.h"
#include "runner/symbols/separate_files.h"

namespace leakgate {
namespace {

TextStyle StyleOfStandardOutput() {
  std::error_code error;
  return {ColourOf(stdout), std::filesystem::current_path(error).string()};
}

void PrintJson(const nlohmann::ordered_json& json) { Print(stdout, ConsoleJson(json, 2)); }

Expected<void> CheckSymbols(const SnapshotReading& reading) {
  for (const std::filesystem::path& directory : reading.symbols) {
    std::error_code error;
    if (std::filesystem::is_directory(directory, error)) continue;
    return UsageError(
        fmt::format("--symbols {}: no such directory; correct the path", directory.string()));
  }
  return {};
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
  if (const Expected<void> checked = CheckSymbols(reading); !checked) {
    return Unexpected(checked.error());
  }
  auto view = std::make_unique<SnapshotView>(*std::move(query),
                                             Symbolizer(IsRuntimeModule, reading.symbols));
  const Expected<void> read = view->Read(file);
  if (!read) return Unexpected(read.error());
  return view;
}

// From its construction to its end a command may ask servers for debug files, and says which
// it has given up.
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

// What could not be written to a broken pipe is nobody's loss; to a full disk it is.
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

}  // namespace

Expected<int> Execute(const SnapshotShowCommand& command) {
  const WithDebugServers servers;
  const Expected<std::unique_ptr<SnapshotView>> view = Read(command.file, command.reading);
  if (!view) return Unexpected(view.error());
  if (command.output == SnapshotOutput::kJson) {
    PrintJson(ShowJson(**view, command.options));
  } else {
    Print(stdout, ShowText(**view, command.options, StyleOfStandardOutput()));
  }
  return 0;
}

Expected<int> Execute(const SnapshotDiffCommand& command) {
  const WithDebugServers servers;
  if (const Expected<void> checked = CheckSymbols(command.reading); !checked) {
    return Unexpected(checked.error());
  }
  const Expected<SnapshotDiff> diff =
      DiffSnapshots(command.first, command.second,
                    {.filters = command.reading.filters, .symbols = command.reading.symbols});
  if (!diff) return Unexpected(diff.error());
  if (command.output == SnapshotOutput::kJson) {
    PrintJson(DiffJson(*diff, command.top));
  } else {
    Print(stdout, DiffText(*diff, command.top, StyleOfStandardOutput()));
  }
  return 0;
}

Expected<int> Execute(const SnapshotExportCommand& command) {
  const WithDebugServers servers;
  const Expected<std::unique_ptr<SnapshotView>> view = Read(command.file, command.reading);
  if (!view) return Unexpected(view.error());
  const Expected<void> written = command.output.empty()
                                     ? ExportToStandardOutput(**view, command.format)
                                     : ExportTo(command.output, **view, command.format);
  if (!written) return Unexpected(written.error());
  return 0;
}

}  // namespace leakgate
