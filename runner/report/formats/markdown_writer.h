// A summary for a pull request's comment or a job's summary page: the verdict, the tests
// over budget, the call stacks folded away. Short enough for a comment, however much
// was found.
#pragma once

#include "runner/report/report_writer.h"

namespace leakgate {

[[nodiscard]] ReportWriter NewMarkdownWriter(std::ostream& out,
                                             const ReportSurroundings& surroundings);

}  // namespace leakgate
