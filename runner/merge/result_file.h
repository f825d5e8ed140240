// A file of results: one run report, or a merged report with many. Read run by
// run, so that neither need fit into memory.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "runner/base/expected.h"
#include "runner/merge/run_outline.h"

namespace leakgate {

// Where a run report stands: its text, from its opening brace to its closing one.
struct RunPlace {
  std::filesystem::path file;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint64_t values = 0;  // JSON values
  Digest text;               // of its bytes
};

enum class ResultKind { kRun, kMerged, kOther };

// What kind of file it is, by its schema; kOther: JSON or not, it is no report of
// leakgate's. Errors: it cannot be read, was cut off, or is a report of another
// version.
[[nodiscard]] Expected<ResultKind> KindOf(const std::filesystem::path& file);

// Tells each run. Error: "FILE:LINE:COLUMN: problem; remedy"; some may have been
// told by then.
using OnRun = std::function<void(RunOutline&& run, const RunPlace& place)>;
[[nodiscard]] Expected<void> ScanResults(const std::filesystem::path& file, const OnRun& on_run);

// The text of a run that was told, piece by piece. Error: the file is not what it was.
using OnText = std::function<void(std::string_view piece)>;
[[nodiscard]] Expected<void> ReadRunText(const RunPlace& place, const OnText& on_text);

}  // namespace leakgate
