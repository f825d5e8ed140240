// Locks the program's memory, as mlockall(MCL_CURRENT) does, and none of the agent's.
//
// Called on the program's thread that has called mlockall, while tracing. Reads /proc/self/maps.
#pragma once

namespace leakgate::agent {

// When pages that are not in memory yet are filled.
enum class WhenFilled { kNow, kWhenTouched };

// Returns 0, or the error with which mlockall would fail for the program's memory alone. Then
// nothing is locked.
[[nodiscard]] int LockProgram(WhenFilled filled);

}  // namespace leakgate::agent
