// The job of a launched program: all that the program starts is in it, too, whatever it does, and
// ends with the runner.
#pragma once

#include "runner/base/descriptors.h"
#include "runner/base/expected.h"

namespace leakgate {

// Makes a job with the process in it. REQUIRES: `process` is a suspended process with this PID.
[[nodiscard]] Expected<void> PutIntoJob(const UniqueFd& process, int pid);

// Has the system tell `port`, a completion port, of each process that comes into the job of `pid`.
// Returns false if there is no such job.
[[nodiscard]] bool TellOfNewProcesses(int pid, const UniqueFd& port);

}  // namespace leakgate
