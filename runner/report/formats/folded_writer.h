// Folded stacks, "test;outermost;...;innermost bytes", for flamegraph.pl, inferno and
// speedscope: the outstanding blocks, without the framework's own.
#pragma once

#include "runner/report/report_writer.h"

namespace leakgate {

[[nodiscard]] ReportWriter NewFoldedWriter(std::ostream& out,
                                           const ReportSurroundings& surroundings);

}  // namespace leakgate
