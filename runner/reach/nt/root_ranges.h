// Finds the roots: memory that the program can reach without a pointer from the heap. These are the
// globals of its modules, its threads' stacks, and what it or the system has mapped, with the
// blocks of each thread's TEB.
//
// The heap is no root where the agent has recorded blocks, but for one thing: in the slow look,
// other blocks that are in use are. There are blocks that ntdll has made for itself, of which the
// agent knows nothing: what FlsSetValue keeps, say. Where nobody can tell which they are (see
// heap_walk.h), all that lies between the recorded blocks is a root. Freed memory is there, too, so
// a block that only freed memory points to counts as retained then.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/region_layout.h"
#include "runner/reach/nt/heap_walk.h"
#include "runner/reach/nt/process_memory.h"
#include "runner/reach/nt/stopped_process.h"
#include "runner/region/region_copies.h"

namespace leakgate {

// The kind that says most about a holder comes first.
enum class RootKind { kGlobal, kMapping, kHeap, kStack };

struct RootRange {
  AddressRange range;
  RootKind kind = RootKind::kMapping;
  int tid = 0;  // set for stacks

  friend bool operator==(const RootRange&, const RootRange&) = default;
};

struct RootSources {
  std::span<const MemoryRange> memory;
  std::span<const ImageModule> modules;
  std::span<const StoppedThread> threads;
  const HeapCopy& heap;
  std::span<const OwnRange> own_ranges;    // the agent's
  std::span<const KeptRange> kept_ranges;  // within its module, what is the program's
  std::span<const KeptRange> declared;     // memory of which the code says that it has pointers
  const WalkedHeaps* walked = nullptr;     // nullptr: it is not known what of the heaps is in use
};

// Returns the roots, sorted by kind.
[[nodiscard]] std::vector<RootRange> FindRoots(const RootSources& sources);

// Returns further memory that may hold roots, for where blocks would be lost otherwise: data that
// has been made read-only, and the heap's own.
[[nodiscard]] std::vector<RootRange> FindHiddenRoots(const RootSources& sources);

// Returns whether there is memory that cannot be read, and which the program may have made so.
[[nodiscard]] bool HasMemoryWithoutAccess(const RootSources& sources);

}  // namespace leakgate
