// The verdict on merged runs, and what is said of it. Pure.
#pragma once

#include <string>
#include <vector>

#include "runner/report/style.h"
#include "runner/results/merged_runs.h"

namespace leakgate {

struct MergeVerdict {
  // 1: a run failed; else 3: not all was measured, or nothing; else 0.
  ExitCode exit_code = ExitCode::kInconclusive;
  std::vector<std::string> missing;  // why, besides what the runs say; one line each
};

// `expected` runs, if that is known: fewer are not all.
[[nodiscard]] MergeVerdict VerdictOn(const MergedRuns& runs, std::optional<std::int64_t> expected);

// In the voice of a run's summary, with a trailing newline.
[[nodiscard]] std::string MergeSummary(const MergedRuns& runs, const MergeVerdict& verdict,
                                       const std::vector<std::string>& warnings, Colour colour);

}  // namespace leakgate
