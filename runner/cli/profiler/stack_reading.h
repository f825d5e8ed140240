// What the commands have in common that read snapshots and recordings: their options, how they are
// checked, and where their results go.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "runner/base/expected.h"
#include "runner/cli/option_list.h"
#include "runner/report/report_format.h"
#include "runner/report/style.h"
#include "runner/snapshot/view/show_snapshot.h"
#include "runner/snapshot/view/stack_lookup.h"
#include "runner/symbols/symbolizer.h"

namespace leakgate {

// Which stacks are shown, and how.
struct StackReading {
  std::vector<std::string> filters{};
  std::vector<std::string> without{};
  std::vector<std::filesystem::path> budgets{};  // files and directories; their components
  std::vector<std::filesystem::path> symbols{};  // directories of binaries and debug files
};

void DeclareStackReading(StackReading& reading, OptionList& options);
void DeclareBudgets(StackReading& reading, OptionList& options);

// The choices of --view.
[[nodiscard]] const Choices<SnapshotLayout>& Views();

// Returns the directories as absolute paths, which is what modules are known by. A usage error
// tells that one is missing.
[[nodiscard]] Expected<std::vector<std::filesystem::path>> SymbolsOf(const StackReading& reading);
// Returns what finds functions and lines, in these directories, too.
[[nodiscard]] Expected<Symbolizer> SymbolizerOf(const StackReading& reading);
// Reads the budget files. A usage error tells what is wrong with one.
[[nodiscard]] Expected<StackQuery> StackQueryOf(const StackReading& reading);

// While an object of this class lives, a command may ask servers for debug files. At its end it
// prints which servers were given up.
class WithDebugServers {
 public:
  WithDebugServers();
  ~WithDebugServers();
  WithDebugServers(const WithDebugServers&) = delete;
  WithDebugServers& operator=(const WithDebugServers&) = delete;
};

[[nodiscard]] TextStyle StyleOfStandardOutput();
void PrintJson(const nlohmann::ordered_json& json);

// A page quotes the sources below a directory, if there is one. Returns what reads them; empty if
// it quotes none.
void DeclareSourceRoot(std::filesystem::path& source_root, OptionList& options);
[[nodiscard]] Expected<ReadSource> SourcesOf(const std::filesystem::path& source_root);
// Returns a usage error if there is no page to quote them. `how` is the option that makes one.
[[nodiscard]] Expected<void> CheckSourcesAreShown(const std::filesystem::path& source_root,
                                                  bool has_page, const char* how);

// Where an export goes. An empty path is standard output.
struct ExportPlace {
  std::filesystem::path path;
  bool is_ours = false;  // the user has not named it, so it must not replace a file
};

// Returns the place for what the user wants at `output`, which may be a directory, or empty. Nobody
// reads an export on a terminal, and pprof's is binary: it gets a file called `name`, as in a
// directory. A usage error tells that such a file would replace another one.
[[nodiscard]] Expected<ExportPlace> PlaceOfExport(const std::filesystem::path& output,
                                                  const std::filesystem::path& name);
// Writes what `write` writes.
[[nodiscard]] Expected<void> WriteExport(
    const ExportPlace& place, const std::function<Expected<void>(std::ostream& out)>& write);

}  // namespace leakgate
