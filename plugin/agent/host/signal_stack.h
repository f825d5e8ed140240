// Where threads have their signal stacks. A program may leave it to the kernel to remember that
// (sigaltstack), which tells nobody else: so the agent keeps it for the runner, which takes what is
// here for roots.
#pragma once

#include "common/region_layout.h"

namespace leakgate::agent {

// Returns where all of them are noted.
[[nodiscard]] KeptRange MemoryOfSignalStacks();

// Notes that the signal stack of this thread is at `stack`; nullptr: it has none. Called by the
// thread, which may have been interrupted here.
void NoteSignalStack(void* stack);

// Forgets it. Called by the thread, as it ends.
void EndSignalStack();

}  // namespace leakgate::agent
