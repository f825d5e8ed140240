// speedscope's own file format: the outstanding blocks, without the framework's own, as
// one profile of bytes and one of blocks.
#pragma once

#include "runner/report/report_writer.h"

namespace leakgate {

[[nodiscard]] ReportWriter NewSpeedscopeWriter(std::ostream& out,
                                               const ReportSurroundings& surroundings);

}  // namespace leakgate
