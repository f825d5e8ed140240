// `leakgate snapshot show`, `diff` and `export`, which read snapshot files (snapshot_read.cpp), and
// `take`, `periodic` and `config`, which are about taking them (snapshot_take.cpp).
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "runner/base/expected.h"
#include "runner/cli/option_list.h"
#include "runner/cli/option_values.h"
#include "runner/cli/profiler/stack_reading.h"
#include "runner/sessions/session_messages.h"
#include "runner/sessions/take_snapshot.h"
#include "runner/snapshot/view/export_snapshot.h"
#include "runner/snapshot/view/make_bundle.h"
#include "runner/snapshot/view/show_snapshot.h"

namespace leakgate {

struct SnapshotShowCommand {
  std::vector<std::filesystem::path> files;  // one
  StackReading reading;
  std::vector<std::filesystem::path> since;  // earlier ones, which tell ages
  ShowOptions options;
  OutputForm output = OutputForm::kText;
};

struct SnapshotDiffCommand {
  std::vector<std::filesystem::path> files;  // two: the earlier, and the later one
  StackReading reading;                      // without budgets
  std::optional<std::size_t> top;
  OutputForm output = OutputForm::kText;
  std::filesystem::path page;         // an HTML file to write besides; empty: none
  std::filesystem::path source_root;  // as of SnapshotExportCommand
};

struct SnapshotExportCommand {
  std::vector<std::filesystem::path> files;  // one
  StackReading reading;
  std::optional<SnapshotFormat> format;  // there must be one
  std::filesystem::path output;          // empty: standard output
  std::filesystem::path source_root;     // a page quotes sources below it; empty: it quotes none
};

// Puts snapshots into one file (snapshot_bundle.cpp).
struct SnapshotBundleCommand {
  std::vector<std::filesystem::path> files;  // snapshots, or directories of them
  std::string session;                       // whose processes are taken, too; empty: none
  std::filesystem::path output;              // there must be one
  BundledSymbols symbols = BundledSymbols::kLeftOut;
  StackReading reading;  // only `symbols`
};

void Declare(SnapshotBundleCommand& command, OptionList& options);
[[nodiscard]] Expected<void> Complete(SnapshotBundleCommand& command, const ProgramLine& program);
[[nodiscard]] Expected<int> Execute(const SnapshotBundleCommand& command);
// Prints which snapshots a bundle has, and what its session knew.
[[nodiscard]] Expected<int> ShowBundle(const std::filesystem::path& bundle, OutputForm form);

void Declare(SnapshotShowCommand& command, OptionList& options);
void Declare(SnapshotDiffCommand& command, OptionList& options);
void Declare(SnapshotExportCommand& command, OptionList& options);

[[nodiscard]] Expected<void> Complete(SnapshotShowCommand& command, const ProgramLine& program);
[[nodiscard]] Expected<void> Complete(SnapshotDiffCommand& command, const ProgramLine& program);
[[nodiscard]] Expected<void> Complete(SnapshotExportCommand& command, const ProgramLine& program);

[[nodiscard]] Expected<int> Execute(const SnapshotShowCommand& command);
[[nodiscard]] Expected<int> Execute(const SnapshotDiffCommand& command);
[[nodiscard]] Expected<int> Execute(const SnapshotExportCommand& command);

// Takes a snapshot of a process that a session or a run traces.
struct SnapshotTakeCommand {
  std::optional<int> pid;        // there must be one
  std::string session;           // empty: whichever session or run traces it
  std::filesystem::path output;  // empty: a new name in the working directory
  SnapshotCare care = SnapshotCare::kRunning;
};

struct SnapshotPeriodicCommand {
  std::optional<int> pid;  // there must be one, as of `every`
  std::string session;
  std::optional<std::chrono::milliseconds> every;
  std::size_t kept = 10;                  // files, the newest
  std::optional<std::uint64_t> most;      // snapshots to take; none: until the process has ended
  std::filesystem::path directory = ".";  // to write them into
  SnapshotCare care = SnapshotCare::kRunning;
};

enum class SnapshotSetting { kEnable, kDisable, kQuery };

// Makes the session that it needs. Has either a PID or an image.
struct SnapshotConfigCommand {
  std::string setting_word;  // "enable"
  SnapshotSetting setting = SnapshotSetting::kQuery;
  std::optional<int> pid;
  std::optional<ImageSelector> image;
  std::string session = "default";
  SessionReach reach = SessionReach::kBelow;  // of the session, if it is made
  std::optional<std::uint32_t>
      stack_events;  // events whose stacks are recorded; nullopt: unchanged
};

// Tells that a snapshot was taken, what it has, and what to do next. Pure.
[[nodiscard]] std::string TakenText(const std::filesystem::path& path,
                                    const SnapshotSubject& subject,
                                    const SnapshotSubject::Taken& taken);

void Declare(SnapshotTakeCommand& command, OptionList& options);
void Declare(SnapshotPeriodicCommand& command, OptionList& options);
void Declare(SnapshotConfigCommand& command, OptionList& options);

[[nodiscard]] Expected<void> Complete(SnapshotTakeCommand& command, const ProgramLine& program);
[[nodiscard]] Expected<void> Complete(SnapshotPeriodicCommand& command, const ProgramLine& program);
[[nodiscard]] Expected<void> Complete(SnapshotConfigCommand& command, const ProgramLine& program);

[[nodiscard]] Expected<int> Execute(const SnapshotTakeCommand& command);
[[nodiscard]] Expected<int> Execute(const SnapshotPeriodicCommand& command);
[[nodiscard]] Expected<int> Execute(const SnapshotConfigCommand& command);

}  // namespace leakgate
