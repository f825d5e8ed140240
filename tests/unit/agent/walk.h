// Walks the caller's stack by the agent's walker, and by libgcc's unwinder, for
// comparison.
#pragma once

#include <unwind.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "plugin/agent/unwind/stack_walker.h"
#include "tests/unit/agent/traced_region.h"

namespace leakgate::test {

struct TwoWalks {
  std::vector<std::uint64_t> ours;     // pcs, innermost first, from the caller on
  std::vector<std::uint64_t> libgccs;  // the same
  UnwindEnd end = UnwindEnd::kOutermost;
  bool is_provable = false;
};

// One thread's walker and trail, kept between walks as the agent keeps them.
struct ThreadWalker {
  ThreadWalker() { walker.Begin(agent::OwnStack::OfThisThread(), kDefaultStackDepth); }

  agent::StackWalker walker{};
  agent::StackTrail trail{};
};

inline ThreadWalker& WalkerOfThisThread() {
  thread_local const auto walker = std::make_unique<ThreadWalker>();
  return *walker;
}

inline std::vector<std::uint64_t> PcsOf(const agent::StackTrail& trail) {
  std::vector<std::uint64_t> pcs;
  for (std::uint32_t i = trail.depth; i > 0; --i) pcs.push_back(trail.frames[i - 1].pc);
  return pcs;
}

struct LibgccWalk {
  std::uint64_t first_pc;  // skip the frames before it
  std::vector<std::uint64_t> pcs;
};

inline _Unwind_Reason_Code NoteFrame(_Unwind_Context* context, void* argument) {
  auto& walk = *static_cast<LibgccWalk*>(argument);
  int is_exact = 0;
  const std::uint64_t ip = _Unwind_GetIPInfo(context, &is_exact);
  const std::uint64_t pc = ip + (is_exact != 0 ? 1 : 0);
  if (ip != 0 && (!walk.pcs.empty() || pc == walk.first_pc)) walk.pcs.push_back(pc);
  return _URC_NO_REASON;
}

inline void Compare(const agent::CallerFrame& caller, TwoWalks& walks) {
  TracedRegion();
  ThreadWalker& mine = WalkerOfThisThread();
  mine.walker.Walk(agent::g_modules, caller, mine.trail);
  walks.ours = PcsOf(mine.trail);
  walks.end = mine.trail.end;
  walks.is_provable = mine.trail.is_provable;
  LibgccWalk libgcc{caller.pc, {}};
  _Unwind_Backtrace(NoteFrame, &libgcc);
  walks.libgccs = libgcc.pcs;
}

// Stands where an interposed function would.
__attribute__((noinline)) inline void WalkHere(TwoWalks& walks) {
  Compare(LEAKGATE_CALLER_FRAME(), walks);
  asm volatile("");  // no tail call
}

}  // namespace leakgate::test
