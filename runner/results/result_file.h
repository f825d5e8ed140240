// Reads files of results: a run's report, or a merged one with many. Each run is read on its own,
// so that the file need not fit into memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "runner/base/expected.h"
#include "runner/report/json/json_report.h"
#include "runner/result/run_result.h"

namespace leakgate {

// A number that identifies a run by what it says: a run that is given twice counts once, however
// its report is written.
struct RunContent {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  friend auto operator<=>(const RunContent&, const RunContent&) = default;
};

// Returns a hash of all that the run's report tells. Neither the order of keys nor white space
// changes it.
[[nodiscard]] RunContent ContentOf(const RunResult& run);

// The place of a run's report, and what it said.
struct RunPlace {
  std::filesystem::path file;
  JsonSpan span;
  RunContent content;
};

enum class ResultKind { kRun, kMerged, kOther };

// Tells by its schema what the file is. Whatever is no report of leakgate's is kOther. Returns an
// error if the file cannot be read, was cut off, or is a report of another version.
[[nodiscard]] Expected<ResultKind> KindOf(const std::filesystem::path& file);

// Calls `on_result` with each run of the file, in its order. An error reads
// "FILE:LINE:COLUMN: problem; remedy"; some runs may have been passed on by then.
using OnResult = std::function<void(RunResult&& run, const RunPlace& place)>;
[[nodiscard]] Expected<void> ReadResults(const std::filesystem::path& file,
                                         const OnResult& on_result);

// Reads a run of ReadResults once more. Returns an error if the file has changed.
[[nodiscard]] Expected<RunResult> ReadResultAt(const RunPlace& place);

// Reads the runs of `read`, which are the bytes of the file `path`. Errors are those of
// ReadResults.
[[nodiscard]] Expected<void> ReadAllRuns(const std::filesystem::path& path, const ReadBytes& read,
                                         const OnRun& on_run);

}  // namespace leakgate
