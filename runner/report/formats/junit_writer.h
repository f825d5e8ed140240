// JUnit's XML, in the shape that Jenkins, GitLab and GitHub's actions read: a case for
// each test, with the gate's failure inside it, as GoogleTest's own is. What suites and
// the program left behind are cases of their own. A run at a time is kept.
#pragma once

#include "runner/report/report_writer.h"

namespace leakgate {

[[nodiscard]] ReportWriter NewJunitWriter(std::ostream& out,
                                          const ReportSurroundings& surroundings);

}  // namespace leakgate
