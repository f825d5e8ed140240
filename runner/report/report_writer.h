// A report in the making: of one run, or of many that were merged, in one format.
//
// Every format is written from run reports (docs/report-format.md), so that a run
// that was read from a file is written as one that has just ended.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <ostream>

#include "runner/report/report_file.h"

namespace leakgate {

struct ReportWriter {
  // One run report at a time, in the order that the report is to have; none is kept
  // whole, so that memory does not grow with their number.
  std::function<void(const nlohmann::ordered_json& run)> add;
  // Once, after the last.
  std::function<void()> finish;
};

// Writes to `out`, which must outlive it. The same runs give the same bytes.
[[nodiscard]] ReportWriter NewReportWriter(ReportFormat format, std::ostream& out);

}  // namespace leakgate
