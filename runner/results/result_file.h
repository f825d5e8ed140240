// What a run says, as a number that tells it from others: a run that is given twice counts
// once, however its report is written.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "runner/base/expected.h"
#include "runner/judge/baseline.h"
#include "runner/report/json/json_report.h"
#include "runner/result/run_result.h"

namespace leakgate {

struct RunContent {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  friend auto operator<=>(const RunContent&, const RunContent&) = default;
};

// A hash of all that the run's report tells, so that neither the order of keys nor white space
// changes it.
[[nodiscard]] RunContent ContentOf(const RunResult& run);

// A file of results: one run report, or a merged report with many. Read run by run, so that
// it need not fit into memory.

// Where a run's report stands, and what it said.
struct RunPlace {
  std::filesystem::path file;
  JsonSpan span;
  RunContent content;
};

enum class ResultKind { kRun, kMerged, kOther };

// What kind of file it is, by its schema; kOther: JSON or not, it is no report of
// leakgate's. Errors: it cannot be read, was cut off, or is a report of another
// version.
[[nodiscard]] Expected<ResultKind> KindOf(const std::filesystem::path& file);

// Tells each run of the file, in its order. Error: "FILE:LINE:COLUMN: problem; remedy"; some
// may have been told by then.
using OnResult = std::function<void(RunResult&& run, const RunPlace& place)>;
[[nodiscard]] Expected<void> ReadResults(const std::filesystem::path& file,
                                         const OnResult& on_result);

// A run that was told, once more. Error: the file is not what it was.
[[nodiscard]] Expected<RunResult> ReadResultAt(const RunPlace& place);

// What counted in it, and what was known in it already. Each of its runs is told to
// `on_run` as well, if there is one. Error: as of ReadResults.
[[nodiscard]] Expected<Baseline> ReadBaseline(const std::filesystem::path& report,
                                              const std::function<void(RunResult&&)>& on_run = {});

}  // namespace leakgate
