// Interned call stacks: a tree in the region, with one node for each frame, from the outermost
// inwards. So a new stack costs only its new frames. A stack's id is the number of its innermost
// node.
// Most callers have few callees. So a node's first children are in a list that begins at the node.
// What a program calls next was mostly made just before, so the list is in the cache where a hash
// table's entry would not be. Further children are found by a hash table, which is private to the
// process, since the runner needs only the nodes. Looking a node up takes no lock; making one does.
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

  // A child that exists; otherwise id is 0, and `listed` is the number of siblings in the list.
  struct Found {
    std::uint32_t id;
    std::uint32_t listed;
  };

  // How far a stack has its nodes: `depth` frames, the innermost of them at the node `id`. If the
  // next one is not among that node's children, `listed` is as in Found.
  struct Place {
    std::uint32_t id;
    std::uint32_t depth;
    std::uint32_t listed;
  };

  Found Find(std::uint32_t parent, const TrailFrame& frame) const;
  // Continues inwards as far as there are nodes.
  void Follow(StackTrail& trail, Place& place) const;
  // Makes the missing nodes, as far as there is room. Returns whether any were made.
  bool AddBranch(StackTrail& trail, Place& place);
  bool AddChild(const Place& parent, std::uint32_t number);
  bool AddToIndex(std::uint32_t number);

  std::atomic<Index*> index_{nullptr};
  Index* retired_ = nullptr;  // indexes that larger ones have replaced
  SpinLock lock_;
};

extern LEAKGATE_INTERNAL StackTable g_stacks;

}  // namespace leakgate::agent
