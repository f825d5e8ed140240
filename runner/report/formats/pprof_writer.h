// A gzipped profile.proto, for pprof: the outstanding blocks, without the framework's
// own, as inuse_objects and inuse_space, labelled by test, component and disposition.
#pragma once

#include "runner/report/report_writer.h"

namespace leakgate {

[[nodiscard]] ReportWriter NewPprofWriter(std::ostream& out,
                                          const ReportSurroundings& surroundings);

}  // namespace leakgate
