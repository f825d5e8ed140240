// Interned call stacks: a tree in the region, one node a frame, from the
// outermost inwards, so that a new stack costs only its new frames. A stack's
// id is its innermost node.
//
// The index that finds a node by (parent, pc, module) is the process's own: it
// can be rebuilt from the nodes, and the runner needs only the nodes. Look-ups
// take no lock; a new node does.
#pragma once

#include <atomic>
#include <cstdint>

#include "plugin/agent/region.h"
#include "plugin/agent/spin_lock.h"
#include "plugin/agent/unwind/stack_walker.h"

namespace leakgate::agent {

// The last stack of a thread, outermost first: its unchanged outer frames need
// no look-up. Used by its own thread only.
struct RecentStack {
  StackFrame frames[kMaxStackDepth];
  std::uint32_t nodes[kMaxStackDepth];
  std::uint32_t depth = 0;
  UnwindEnd end = UnwindEnd::kOutermost;
};

class StackTable {
 public:
  // False if there is no memory for the index.
  [[nodiscard]] bool Start();

  // The id of `stack`; if the table is full, that of as many of its outer
  // frames as are known.
  std::uint32_t Intern(const CallStack& stack, RecentStack& recent);

 private:
  struct Index;

  std::uint32_t Child(std::uint32_t parent, const StackFrame& frame, bool& is_new);
  std::uint32_t FindChild(const Index& index, std::uint32_t parent, const StackFrame& frame) const;
  std::uint32_t AddChild(std::uint32_t parent, const StackFrame& frame, bool& is_new);
  bool Grow();

  std::atomic<Index*> index_{nullptr};
  SpinLock lock_;
};

extern StackTable g_stacks;

}  // namespace leakgate::agent
