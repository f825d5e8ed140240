// One `leakgate run`: launches the program suspended, enables tracing for its
// PID, resumes it, judges windows as they end, and what is left at the end.
//
// Called on the main thread, which is the one that launches, waits and passes
// signals on. The control server and each traced process have a thread each.
#pragma once

#include "runner/base/expected.h"
#include "runner/result/run_result.h"
#include "runner/run/run_request.h"

namespace leakgate {

// The result carries the exit code. An error means that the program did not
// run, or not under the tracer: its exit code says which.
[[nodiscard]] Expected<RunResult> Run(const RunRequest& request);

}  // namespace leakgate
