// SARIF 2.1.0, for code scanning: a result for each issue, known again by its symbolic
// call site when lines move. All runs are one run of SARIF, with an invocation each, as
// GitHub takes one run of a tool in a file.
#pragma once

#include "runner/report/report_writer.h"

namespace leakgate {

[[nodiscard]] ReportWriter NewSarifWriter(std::ostream& out,
                                          const ReportSurroundings& surroundings);

}  // namespace leakgate
