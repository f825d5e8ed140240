// GitLab's Code Quality report: a JSON array of issues.
#pragma once

#include "runner/report/report_writer.h"

namespace leakgate {

[[nodiscard]] ReportWriter NewGitlabWriter(std::ostream& out,
                                           const ReportSurroundings& surroundings);

}  // namespace leakgate
