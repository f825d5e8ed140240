// `leakgate snapshot take`, `periodic` and `config`. Snapshots are taken of processes that a
// session or a run traces; `config` makes the session that it needs.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

#include "runner/base/expected.h"
#include "runner/cli/app/option_list.h"
#include "runner/sessions/session_messages.h"
#include "runner/sessions/take_snapshot.h"

namespace leakgate {

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

// Has either a PID or an image.
struct SnapshotConfigCommand {
  std::string setting_word;  // "enable"
  SnapshotSetting setting = SnapshotSetting::kQuery;
  std::optional<int> pid;
  std::optional<ImageSelector> image;
  std::string session = "default";
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
