// Signal stacks on which no handler runs. All words there are dead, whoever wrote them, unless a
// context is saved there: code may run on such a stack by itself, be suspended, and go on later
// (swapcontext, setjmp in a handler, libraries for coroutines). Who does so keeps the stack pointer
// somewhere else.
//
// No function fails. Used by the thread that has stopped the process.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/region_layout.h"
#include "runner/reach/linux/frozen_process.h"
#include "runner/reach/linux/process_memory.h"
#include "runner/reach/linux/root_ranges.h"
#include "runner/region/region_copies.h"

namespace leakgate {

// Returns the stacks that threads have told the kernel and on which none of them runs.
[[nodiscard]] std::vector<AddressRange> FindIdleSignalStacks(
    const std::vector<KeptRange>& kept, const std::vector<FrozenThread>& threads,
    const ProcessMemory& memory);

// Where a stack pointer may be saved.
struct SavedPointerPlaces {
  std::span<const RootRange> roots;
  std::span<const LiveBlock> blocks;
  std::span<const FrozenThread> threads;
};

// Returns those of `stacks` into which a word leads that is outside of them, not counting a pointer
// to a stack's begin, which whoever has the memory keeps. REQUIRES: `memory` reads them as zero.
[[nodiscard]] std::vector<AddressRange> StacksWithContexts(std::span<const AddressRange> stacks,
                                                           const SavedPointerPlaces& places,
                                                           ProcessMemory& memory);

}  // namespace leakgate
