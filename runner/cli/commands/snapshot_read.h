// `leakgate snapshot show`, `diff` and `export`, which read snapshot files. The commands that
// take snapshots are in snapshot_take.h.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "runner/base/expected.h"
#include "runner/cli/app/option_list.h"
#include "runner/cli/app/option_values.h"
#include "runner/snapshot/view/export_snapshot.h"
#include "runner/snapshot/view/show_snapshot.h"

namespace leakgate {

// The options that these commands have in common.
struct SnapshotReading {
  std::vector<std::string> filters;
  std::vector<std::filesystem::path> budgets;  // files and directories; their components
  std::vector<std::filesystem::path> symbols;  // directories of binaries and debug files
  std::vector<std::filesystem::path> since{};  // only of `show`: earlier ones, which tell ages
};

struct SnapshotShowCommand {
  std::vector<std::filesystem::path> files;  // one
  SnapshotReading reading;
  ShowOptions options;
  OutputForm output = OutputForm::kText;
};

struct SnapshotDiffCommand {
  std::vector<std::filesystem::path> files;  // two: the earlier, and the later one
  SnapshotReading reading;                   // without budgets
  std::optional<std::size_t> top;
  OutputForm output = OutputForm::kText;
};

struct SnapshotExportCommand {
  std::vector<std::filesystem::path> files;  // one
  SnapshotReading reading;
  std::optional<SnapshotFormat> format;  // there must be one
  std::filesystem::path output;          // empty: standard output
};

void Declare(SnapshotShowCommand& command, OptionList& options);
void Declare(SnapshotDiffCommand& command, OptionList& options);
void Declare(SnapshotExportCommand& command, OptionList& options);

[[nodiscard]] Expected<void> Complete(SnapshotShowCommand& command, const ProgramLine& program);
[[nodiscard]] Expected<void> Complete(SnapshotDiffCommand& command, const ProgramLine& program);
[[nodiscard]] Expected<void> Complete(SnapshotExportCommand& command, const ProgramLine& program);

[[nodiscard]] Expected<int> Execute(const SnapshotShowCommand& command);
[[nodiscard]] Expected<int> Execute(const SnapshotDiffCommand& command);
[[nodiscard]] Expected<int> Execute(const SnapshotExportCommand& command);

}  // namespace leakgate
