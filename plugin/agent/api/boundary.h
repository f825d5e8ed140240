// What the system's part of the agent does when the program's code calls it.
#pragma once

namespace leakgate::agent {

// Begins to trace this process if it is one that is traced only once it runs tests. Returns whether
// it has begun.
[[nodiscard]] bool TraceAtBoundary();

// Called when a window begins or ends.
void PrepareBoundary();

// Returns whether destructors of static objects may have run by now, although the program's end is
// only announced.
[[nodiscard]] bool MayHaveLostStatics();

}  // namespace leakgate::agent
