// A run as a history keeps it.
#pragma once

#include <string>
#include <vector>

#include "runner/result/run_result.h"
#include "runner/results/history.h"

namespace leakgate {

// Returns `run` as a history keeps it; `digest` identifies it.
[[nodiscard]] HistoryRun ToHistoryRun(const RunResult& run, const std::string& digest);

// What `leakgate history` prints, for people and for machines. Pure.

struct HistoryView {
  std::vector<SeenFinding> findings;
  std::vector<FlakyTest> flaky;
};

[[nodiscard]] std::string HistoryText(const HistoryView& view);
[[nodiscard]] std::string HistoryJson(const HistoryView& view);
[[nodiscard]] std::string TrendText(const std::vector<TrendPoint>& points);
// `subject` is what the points are about: "component", "test" or "call_site".
[[nodiscard]] std::string TrendJson(const std::vector<TrendPoint>& points,
                                    const std::string& subject);

}  // namespace leakgate
