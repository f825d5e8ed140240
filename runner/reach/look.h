// Looks once at a process for what became of blocks: it stops all threads, marks what is reachable,
// and lets them go on. FindReach calls it, on a thread that ends with the look.
//
//   quick look   roots, and aligned pointers into blocks: what nearly every program holds blocks by
//   slow look    for blocks that would be lost: odd words (odd_words.h), what the kernel keeps,
//   pages
//                without access, memory of sbrk, blocks that the agent did not see allocated
//
// The slow look reads each root and each block that is held once more, in the same stop.
#pragma once

#include <vector>

#include "runner/base/expected.h"
#include "runner/reach/find_reach.h"

namespace leakgate {

struct LookResult {
  std::vector<BlockReach> reaches;  // of each candidate, in their order
  LookDepth depth = LookDepth::kQuick;
};

[[nodiscard]] Expected<LookResult> LookAtProcess(const ReachRequest& request, LookDepth depth);

// Looks only for whether anything leads to the candidates but they themselves: all memory counts as
// a root, so no other block need be known. Those that are retained then may be lost all the same.
[[nodiscard]] Expected<LookResult> LookForPointers(const ReachRequest& request, LookDepth depth);

[[nodiscard]] Expected<HeapReach> LookAtHeap(const ReachRequest& request, LookDepth depth);

// Returns once each thread of the process has run, or waits, since the call; or after some seconds.
void LetThreadsRun(int pid);

}  // namespace leakgate
