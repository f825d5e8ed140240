// A baseline from a report, of one run or merged.
#pragma once

#include <filesystem>

#include "runner/base/expected.h"
#include "runner/judge/baseline.h"
#include "runner/results/result_file.h"

namespace leakgate {

// What counted in it, and what was known in it already. Each of its runs is told to
// `on_run` as well, if there is one. Error: as of ReadResults.
[[nodiscard]] Expected<Baseline> ReadBaseline(const std::filesystem::path& report,
                                              const std::function<void(RunResult&&)>& on_run = {});

}  // namespace leakgate
