// Tells what of many lost blocks is lost by itself, and what with another one: people mend the loss
// of a tree's root, and its nodes are not lost any more.
//
//   [a] -> [b] -> [c]     a is a root; b and c are lost with it
//   [d] <-> [e]           of a cycle that no other lost block leads to, the block that was made
//                         first is the root: what owns others is mostly made before them
//   [f] -> [h] <- [g]     f and g are roots; h is lost with the one that was made first
//
// Strongly connected components are found as by R. Tarjan, "Depth-First Search and Linear Graph
// Algorithms" (1972), without recursion. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "runner/reach/pointer_graph.h"

namespace leakgate {

class LostGraph {
 public:
  // Adds a block; the first one has number 0. `made` tells which of two blocks was made first: the
  // one of the lower number, and of equal ones the one that was added first.
  void AddBlock(std::uint32_t made) {
    pointers_.AddBlock();
    made_.push_back(made);
  }
  // Says that the block that was added last leads to block `target`, which may be added later.
  void AddPointer(std::uint32_t target) { pointers_.AddPointer(target); }

  // How a block is lost.
  struct Way {
    std::uint32_t root = 0;    // the block with which it is lost; itself if it is a root
    std::uint32_t parent = 0;  // the block that leads to it, on a shortest way; itself of a root
  };
  // Returns the way of each block. REQUIRES: each target has been added.
  [[nodiscard]] std::vector<Way> FindWays() const;

 private:
  // Returns the number of each block's component.
  [[nodiscard]] std::vector<std::uint32_t> FindComponents() const;
  [[nodiscard]] std::vector<std::uint32_t> FindRoots() const;

  PointerGraph pointers_;
  std::vector<std::uint32_t> made_;
};

}  // namespace leakgate
