// Interned call stacks: a tree in the region, one node a frame, from the
// outermost inwards, so that a new stack costs only its new frames. A stack's
// id is its innermost node.
//
// The index that finds a node by (parent, pc, module) is the process's own: the
// runner needs only the nodes. Look-ups take no lock; a new node does.
#pragma once

#include <atomic>
#include <cstdint>

#include "plugin/agent/region.h"
#include "plugin/agent/spin_lock.h"
#include "plugin/agent/unwind/stack_trail.h"
#include "plugin/agent/visibility.h"

namespace leakgate::agent {

class StackTable {
 public:
  struct Interned {
    std::uint32_t id;
    bool is_new;
  };

  // False if there is no memory for the index.
  [[nodiscard]] bool Start();

  // Fills in the nodes of all but the `kept` outer frames of `trail`. If the
  // table is full, the id is that of as many outer frames as it holds.
  Interned Intern(std::uint32_t kept, StackTrail& trail);

 private:
  class Index;

  Interned Child(std::uint32_t parent, const TrailFrame& frame);
  Interned AddChild(std::uint32_t hash, const StackNode& child);
  bool HasRoomFor(std::uint32_t number);

  std::atomic<Index*> index_{nullptr};
  SpinLock lock_;
};

extern LEAKGATE_INTERNAL StackTable g_stacks;

}  // namespace leakgate::agent
