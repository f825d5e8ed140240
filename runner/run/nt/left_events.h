// Ctrl-C and Ctrl-Break, which are left to the program while a run lasts (run/program_watch.h).
#pragma once

namespace leakgate {

// Returns whether one came since the run began. A program that has not been resumed does not get
// it. Any thread may call this.
[[nodiscard]] bool WasEventLeftToProgram();

}  // namespace leakgate
