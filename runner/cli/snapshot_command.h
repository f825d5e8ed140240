// `leakgate snapshot show`, `diff` and `export`: what was asked for, and doing it. Commands
// that look at snapshot files; what takes them is elsewhere.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "runner/base/expected.h"
#include "runner/snapshot_view/export_snapshot.h"
#include "runner/snapshot_view/show_snapshot.h"

namespace leakgate {

enum class SnapshotOutput { kText, kJson };

// What all of them are told.
struct SnapshotReading {
  std::vector<std::string> filters;
  std::vector<std::filesystem::path> budgets;  // files and directories; their components
  std::vector<std::filesystem::path> symbols;  // directories of binaries and debug files
  std::vector<std::filesystem::path> since{};  // of `show`: earlier ones, which tell ages
};

struct SnapshotShowCommand {
  std::filesystem::path file;
  SnapshotReading reading;
  ShowOptions options;
  SnapshotOutput output = SnapshotOutput::kText;
};

struct SnapshotDiffCommand {
  std::filesystem::path first;
  std::filesystem::path second;
  SnapshotReading reading;  // without budgets
  std::optional<std::size_t> top;
  SnapshotOutput output = SnapshotOutput::kText;
};

struct SnapshotExportCommand {
  std::filesystem::path file;
  SnapshotReading reading;
  SnapshotFormat format = SnapshotFormat::kFolded;
  std::filesystem::path output;  // empty: standard output
};

[[nodiscard]] Expected<int> Execute(const SnapshotShowCommand& command);
[[nodiscard]] Expected<int> Execute(const SnapshotDiffCommand& command);
[[nodiscard]] Expected<int> Execute(const SnapshotExportCommand& command);

}  // namespace leakgate
