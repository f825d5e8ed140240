// How the program under test ended, in words. The numbers are Linux's.
#pragma once

#include <string>

#include "runner/report/run_result.h"

namespace leakgate {

// "exited with 1", "was killed by signal 11 (SIGSEGV)".
[[nodiscard]] std::string ProgramExitText(const ProgramExit& program);

}  // namespace leakgate
