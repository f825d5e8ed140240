// The job of a launched program: all that the program starts is in it, too, whatever it does, and
// ends with the runner.
#pragma once

#include "runner/base/descriptors.h"
#include "runner/base/expected.h"

namespace leakgate {

// Makes a job with the process in it. REQUIRES: `process` is a suspended process with this PID.
[[nodiscard]] Expected<void> PutIntoJob(const UniqueFd& process, int pid);

// How many processes the job of `pid` has had so far; 0 if there is no such job.
[[nodiscard]] unsigned ProcessesInJobOf(int pid);

}  // namespace leakgate
