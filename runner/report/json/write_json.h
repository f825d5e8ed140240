// The JSON report: everything that a run has found, for machines, and for leakgate itself to
// read again (read_json.h).
//
// Each key is explained in docs/report-format.md; the schema that the output keeps to is
// docs/leakgate-report-2.schema.json. The same result gives the same bytes. What is not UTF-8
// in a name or a path comes out as U+FFFD.
#pragma once

#include <ostream>
#include <string>

#include "runner/report/report_format.h"
#include "runner/result/run_result.h"

namespace leakgate {

// One run as it is; else a merged report: an object with their `runs`. `runs` is how many
// will be added.
[[nodiscard]] ReportWriter NewJsonWriter(std::ostream& out, std::size_t runs);

// The report of one run, with a trailing newline.
[[nodiscard]] std::string ToJson(const RunResult& result);

}  // namespace leakgate
