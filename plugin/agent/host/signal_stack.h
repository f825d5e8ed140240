// Where threads have their signal stacks. A program need not remember them (sigaltstack), because
// the kernel does, which tells nobody else. So the agent keeps them for the runner, which treats
// the addresses here as roots, and reads nothing from a stack on which no handler runs.
#pragma once

#include <cstddef>

#include "common/region_layout.h"

namespace leakgate::agent {

// Returns the memory in which all of them are noted, as an array of SignalStack.
[[nodiscard]] KeptRange MemoryOfSignalStacks();

// Notes that the signal stack of this thread is the `bytes` at `stack`; nullptr: it has none.
// Called by the thread, which may have been interrupted here.
void NoteSignalStack(void* stack, std::size_t bytes);

// Forgets it. Called by the thread, as it ends.
void EndSignalStack();

}  // namespace leakgate::agent
