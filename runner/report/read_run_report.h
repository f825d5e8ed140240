// A run report read back: the inverse of ToRunReport, so that what is written from a
// report may use all that text is made with. Pure.
#pragma once

#include <nlohmann/json.hpp>

#include "runner/report/run_result.h"

namespace leakgate {

// What a report does not tell is left out: of budgets all but component and owner,
// and the violated limits; which failures GoogleTest was told of.
// REQUIRES: `run` keeps to docs/leakgate-report-2.schema.json; throws
// nlohmann::json::exception where it plainly does not.
[[nodiscard]] RunResult ReadRunReport(const nlohmann::ordered_json& run);

}  // namespace leakgate
