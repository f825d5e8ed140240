// A run as a history keeps it.
#pragma once

#include <string>
#include <vector>

#include "runner/result/run_result.h"
#include "runner/results/history.h"

namespace leakgate {

// `digest`: which run it is.
[[nodiscard]] HistoryRun ToHistoryRun(const RunResult& run, const std::string& digest);

// What `leakgate history` prints, for people and for machines. Pure.

struct HistoryView {
  std::vector<SeenFinding> findings;
  std::vector<FlakyTest> flaky;
};

[[nodiscard]] std::string HistoryText(const HistoryView& view);
[[nodiscard]] std::string HistoryJson(const HistoryView& view);
[[nodiscard]] std::string TrendText(const std::vector<TrendPoint>& points);
// `subject`: what the points are of: "component", "test", "call_site".
[[nodiscard]] std::string TrendJson(const std::vector<TrendPoint>& points,
                                    const std::string& subject);

}  // namespace leakgate
