// Traces the fork children of a process that a run traces, each into a region of its own.
//
// A child of fork has the agent's memory, and not the region (base/region.h). It may run tests, as
// a shard's, or be a test, as with frameworks that fork for each one. So it asks the runner for a
// region, which begins empty: what the child has inherited is unknown there.
//
//   parent   TraceForks      the runner wants it (kTraceForks)
//   child    TraceIfForked   at its first allocation, if no test ran where it was forked
//                            at its first boundary of tests in any case
//
// What a test forks is the test's own affair, as death tests are, until it runs tests itself. A
// child that executes a program without an allocation asks nothing. vfork's children share their
// parent's memory and its region.
#pragma once

namespace leakgate::agent {

// From now on fork children are traced. `control` names the runner's socket.
void TraceForks(const char* control);

enum class ForkOccasion { kAllocation, kBoundary };

// Begins to trace this process if it is such a child. Returns whether it is traced now.
bool TraceIfForked(ForkOccasion occasion);

}  // namespace leakgate::agent
