// Interned call stacks: a tree in the region, with one node for each frame, from the outermost
// inwards. So a new stack costs only its new frames. A stack's id is the number of its innermost
// node.
//
// Most callers have few callees. So a node's first children are in a list that begins at the node.
// What a program calls next was mostly made just before, so the list is in the cache where a hash
// table's entry would not be. Further children are found by a hash table, which is the process's
// own, since the runner needs only the nodes. Looking a node up takes no lock; making one does.
#pragma once

#include <atomic>
#include <cstdint>

#include "plugin/agent/base/region.h"
#include "plugin/agent/base/spin_lock.h"
#include "plugin/agent/base/visibility.h"
#include "plugin/agent/unwind/stack_trail.h"

namespace leakgate::agent {

class StackTable {
 public:
  struct Interned {
    std::uint32_t id;
    bool is_new;
  };

  // Begins with the region's empty table. Returns false if there is no memory for the index.
  // REQUIRES: no thread records.
  [[nodiscard]] bool Start();

  // Fills in the nodes of all but the `kept` outer frames of `trail`, and returns the stack's id.
  // If the table is full, the id is that of as many outer frames as it holds.
  Interned Intern(std::uint32_t kept, StackTrail& trail);

 private:
  class Index;

  // A child that is there; else id is 0, and `listed` tells how many siblings are in the list.
  struct Found {
    std::uint32_t id;
    std::uint32_t listed;
  };

  Found Find(std::uint32_t parent, const TrailFrame& frame) const;
  Interned Child(std::uint32_t parent, const TrailFrame& frame);
  std::uint32_t AddChild(std::uint32_t parent, const TrailFrame& frame, std::uint32_t listed);
  bool AddToIndex(std::uint32_t number);

  std::atomic<Index*> index_{nullptr};
  Index* retired_ = nullptr;  // indexes that larger ones have replaced
  SpinLock lock_;
};

extern LEAKGATE_INTERNAL StackTable g_stacks;

}  // namespace leakgate::agent
