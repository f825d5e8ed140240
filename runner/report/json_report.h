// The JSON report: everything that a run has found, for machines.
//
// Each key is explained in docs/report-format.md; the schema that the output
// keeps to is docs/leakgate-report-2.schema.json. Pure: the same result gives
// the same bytes.
#pragma once

#include <string>

#include "runner/report/run_result.h"

namespace leakgate {

// The report's text, with a trailing newline. Never fails: what is not UTF-8
// in a name or a path comes out as U+FFFD.
[[nodiscard]] std::string ToJson(const RunResult& result);

}  // namespace leakgate
