// The run reports of a results file as JSON, one by one: of what is larger than memory
// one run is held.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>

#include "runner/base/expected.h"
#include "runner/merge/result_file.h"

namespace leakgate {

using OnRunReport = std::function<void(nlohmann::ordered_json&& run)>;

// Tells each run of `file`, in its order. Error: as of ScanResults, before any is told;
// or as of ReadRunReportAt.
[[nodiscard]] Expected<void> ReadRunReports(const std::filesystem::path& file,
                                            const OnRunReport& on_run);

// Whether the one at `place` can be taken apart: a value takes many times the memory of its
// text, and is not streamed. Error: it is too large.
[[nodiscard]] Expected<void> RequireFits(const RunPlace& place);

// The one that stands at `place`. Errors: it is too large; the file is not what it was.
[[nodiscard]] Expected<nlohmann::ordered_json> ReadRunReportAt(const RunPlace& place);

}  // namespace leakgate
