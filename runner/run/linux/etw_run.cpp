#include "runner/run/etw_run.h"

namespace leakgate {

Expected<void> RequireEtw() {
  return UsageError(
      "--engine etw lets Windows' own heap tracing trace, which this system does not have; leave "
      "it "
      "out");
}

Expected<EtwRunEnd> RunTracedByEtw(const EtwRun&, TracedProcesses&) {
  return Unexpected(RequireEtw().error());
}

}  // namespace leakgate
