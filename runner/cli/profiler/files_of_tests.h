// Options of `leakgate run`: which snapshots and recordings of tests it keeps.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "runner/cli/commands/run.h"
#include "runner/profiling/test_recordings.h"
#include "runner/profiling/test_snapshots.h"

namespace leakgate {

struct FilesOfTests : RunAddition {
  void Declare(OptionList& options) override;
  [[nodiscard]] Expected<void> Complete() override;
  [[nodiscard]] Expected<void> Prepare(RunExtensions& extensions) override;
  [[nodiscard]] Expected<void> Tell(SummaryDetail detail) const override;

  std::filesystem::path snapshots_directory;   // empty: none are taken
  std::filesystem::path recordings_directory;  // likewise
  std::optional<SnapshotTests> when;
  std::shared_ptr<TestSnapshots> snapshots;    // null if none are taken; Prepare makes them
  std::shared_ptr<TestRecordings> recordings;  // likewise
};

// Returns what a profiler adds to each run, whichever command it is of.
[[nodiscard]] RunExtensions ProfilerExtensions();

}  // namespace leakgate
