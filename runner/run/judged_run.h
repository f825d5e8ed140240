// One `leakgate run`: launches the program suspended, enables tracing for its PID, resumes it,
// judges its windows as they end, and judges what is left at the end.
//
// Called on the main thread, which launches the program, waits for it and passes signals on. The
// control server and each traced process have a thread of their own.
#pragma once

#include "runner/base/expected.h"
#include "runner/result/run_result.h"
#include "runner/run/run_request.h"

namespace leakgate {

// The result contains the exit code. An error means that the program did not run, or did not run
// under the tracer; the error's exit code says which.
[[nodiscard]] Expected<RunResult> Run(const RunRequest& request);

}  // namespace leakgate
