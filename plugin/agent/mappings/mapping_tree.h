// Records of mappings ordered by address: a treap, whose links are in the records. A tree is its
// root's id, or 0 if it is empty. Priorities are computed from the ids, so that none is stored.
// Nothing here takes the lock: see mapping_table.h.
#pragma once

#include <cstdint>

#include "plugin/agent/base/region.h"

namespace leakgate::agent::mapping_tree {

using Tree = std::uint32_t;

inline MappingRecord& RecordOf(std::uint32_t id) { return g_region.mappings()[id]; }
inline std::uint64_t EndOf(std::uint32_t id) { return RecordOf(id).begin + RecordOf(id).bytes; }

// The records that begin below an address, and the others.
struct Halves {
  Tree below;
  Tree rest;
};
[[nodiscard]] Halves Split(Tree tree, std::uint64_t address);

// REQUIRES: all of `below` begin before all of `above`.
[[nodiscard]] Tree Join(Tree below, Tree above);

// Return the last record that begins below `address`, and the first that begins there or above; 0
// if there is none.
[[nodiscard]] std::uint32_t LastBelow(Tree tree, std::uint64_t address);
[[nodiscard]] std::uint32_t FirstFrom(Tree tree, std::uint64_t address);

void Insert(Tree& tree, std::uint32_t id);
void Remove(Tree& tree, std::uint32_t id);

// Removes any record and returns it. REQUIRES: the tree is not empty.
[[nodiscard]] std::uint32_t Pop(Tree& tree);

}  // namespace leakgate::agent::mapping_tree
