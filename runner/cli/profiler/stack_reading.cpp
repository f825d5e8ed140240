#include "runner/cli/profiler/stack_reading.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <system_error>

#include "runner/attribution/code_owner.h"
#include "runner/base/atomic_file.h"
#include "runner/base/path_text.h"
#include "runner/budget/read_budget.h"
#include "runner/cli/terminal.h"
#include "runner/cli/write_reports.h"
#include "runner/report/formats/source_excerpts.h"
#include "runner/symbols/debug_servers.h"

namespace leakgate {

void DeclareStackReading(StackReading& reading, OptionList& options) {
  options.Add("--filter", TextWord("PATTERN"), reading.filters,
              "Only blocks with such a frame in their stack: a glob of a function's name without "
              "its parameters, of a source file if it has a '/', of a module as module:libnet.so*. "
              "Repeatable: each must match");
  options.Add("--without", TextWord("PATTERN"), reading.without,
              "Only blocks without such a frame in their stack. Repeatable: none may match");
  options.Add("--symbols", FileWord("DIR"), reading.symbols,
              "Look for binaries and debug files here, too, by build-id. Repeatable. A server is "
              "asked only if DEBUGINFOD_URLS names one");
}

void DeclareBudgets(StackReading& reading, OptionList& options) {
  options.Add("--budgets", FileWord("FILE|DIR"), reading.budgets,
              "Tell the component of each block, as these budget files have it. Repeatable");
}

// The message names the table last, because that is shown without the option.
const Choices<SnapshotLayout>& Views() {
  static const Choices<SnapshotLayout> views = {
      "VIEW",
      "view",
      "--view tree or --view table",
      {{"table", SnapshotLayout::kGroups}, {"tree", SnapshotLayout::kTree}}};
  return views;
}

Expected<std::vector<std::filesystem::path>> SymbolsOf(const StackReading& reading) {
  std::vector<std::filesystem::path> directories;
  for (const std::filesystem::path& directory : reading.symbols) {
    std::error_code error;
    if (!std::filesystem::is_directory(directory, error)) {
      return UsageError(
          fmt::format("--symbols {}: no such directory; correct the path", PathText(directory)));
    }
    directories.push_back(std::filesystem::absolute(directory));
  }
  return directories;
}

Expected<Symbolizer> SymbolizerOf(const StackReading& reading) {
  LEAKGATE_TRY_ASSIGN(std::vector<std::filesystem::path> symbols, SymbolsOf(reading));
  return Symbolizer(IsRuntimeModule, std::move(symbols));
}

Expected<StackQuery> StackQueryOf(const StackReading& reading) {
  StackQuery query{.filters = reading.filters, .without = reading.without};
  if (reading.budgets.empty()) return query;
  LEAKGATE_TRY_ASSIGN(std::vector<BudgetFile> budgets, LoadBudgetFiles(reading.budgets));
  query.budgets = std::move(budgets);
  return query;
}

WithDebugServers::WithDebugServers() { LimitPatienceWithServers(); }

WithDebugServers::~WithDebugServers() {
  const std::optional<SilentServers>& silent = ServersGivenUp();
  if (!silent) return;
  PrintMessage(
      fmt::format("no answer in {} s from {}: asked no more, so functions and lines "
                  "may be missing; see DEBUGINFOD_URLS",
                  silent->patience.count(), silent->urls));
}

TextStyle StyleOfStandardOutput() {
  std::error_code error;
  return {ColourOf(stdout), PathText(std::filesystem::current_path(error))};
}

void PrintJson(const nlohmann::ordered_json& json) { Print(stdout, ConsoleJson(json, 2)); }

Expected<ExportPlace> PlaceOfExport(const std::filesystem::path& output,
                                    const std::filesystem::path& name) {
  std::error_code error;
  const bool is_directory = std::filesystem::is_directory(output, error);
  if (!is_directory && (!output.empty() || !IsTerminal(stdout))) return ExportPlace{output};
  const ExportPlace place{output / name, true};
  const auto status = std::filesystem::symlink_status(place.path, error);
  if (status.type() == std::filesystem::file_type::not_found) return place;
  return UsageError(fmt::format("{}: there is such a file already; name another with -o FILE",
                                PathText(place.path)));
}

Expected<void> WriteExport(const ExportPlace& place,
                           const std::function<Expected<void>(std::ostream& out)>& write) {
  if (place.path.empty()) return write(OutputStream());
  LEAKGATE_TRY_ASSIGN(AtomicFile file, AtomicFile::Create(place.path));
  if (const Expected<void> written = write(file.out()); !written) return written;
  if (const Expected<void> committed = file.Commit(); !committed) return committed;
  if (place.is_ours) PrintMessage(fmt::format("written: {}", PathText(place.path)));
  return {};
}

void DeclareSourceRoot(std::filesystem::path& source_root, OptionList& options) {
  options.Add("--source-root", FileWord("DIR"), source_root,
              "Quote the source lines of files below DIR in the page. Without it, none are: "
              "the file says where sources are, and may come from anywhere");
}

Expected<ReadSource> SourcesOf(const std::filesystem::path& source_root) {
  return source_root.empty() ? ReadSource() : SourcesBelow(source_root);
}

Expected<void> CheckSourcesAreShown(const std::filesystem::path& source_root, bool has_page,
                                    const char* how) {
  if (source_root.empty() || has_page) return {};
  return UsageError(
      fmt::format("--source-root is for a page, and there is none; add {}, or leave it out", how));
}

}  // namespace leakgate
