// The JSON report of one run as it is, of several as one merged report: an object
// with their `runs`. What is not UTF-8 in a name or a path comes out as U+FFFD.
#pragma once

#include "runner/report/report_writer.h"

namespace leakgate {

[[nodiscard]] ReportWriter NewJsonWriter(std::ostream& out);

}  // namespace leakgate
