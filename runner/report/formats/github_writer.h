// GitHub's workflow commands: an annotation for each issue, where it was allocated.
#pragma once

#include "runner/report/report_writer.h"

namespace leakgate {

[[nodiscard]] ReportWriter NewGithubWriter(std::ostream& out,
                                           const ReportSurroundings& surroundings);

}  // namespace leakgate
