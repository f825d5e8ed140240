#include "plugin/agent/mappings/mapping_tree.h"

namespace leakgate::agent::mapping_tree {
namespace {

// Spreads ids, which are given in order, over all priorities.
std::uint32_t PriorityOf(std::uint32_t id) {
  std::uint32_t mixed = id * 0x9E37'79B1U;
  mixed ^= mixed >> 15;
  return mixed * 0x85EB'CA77U;
}

}  // namespace

Halves Split(Tree tree, std::uint64_t address) {
  Halves halves{0, 0};
  Tree* below = &halves.below;
  Tree* rest = &halves.rest;
  while (tree != 0) {
    MappingRecord& record = RecordOf(tree);
    if (record.begin < address) {
      *below = tree;
      below = &record.above;
      tree = record.above;
    } else {
      *rest = tree;
      rest = &record.below;
      tree = record.below;
    }
  }
  *below = 0;
  *rest = 0;
  return halves;
}

Tree Join(Tree below, Tree above) {
  Tree joined = 0;
  Tree* link = &joined;
  while (below != 0 && above != 0) {
    if (PriorityOf(below) > PriorityOf(above)) {
      *link = below;
      link = &RecordOf(below).above;
      below = *link;
    } else {
      *link = above;
      link = &RecordOf(above).below;
      above = *link;
    }
  }
  *link = below != 0 ? below : above;
  return joined;
}

std::uint32_t LastBelow(Tree tree, std::uint64_t address) {
  std::uint32_t last = 0;
  while (tree != 0) {
    const MappingRecord& record = RecordOf(tree);
    if (record.begin < address) last = tree;
    tree = record.begin < address ? record.above : record.below;
  }
  return last;
}

std::uint32_t FirstFrom(Tree tree, std::uint64_t address) {
  std::uint32_t first = 0;
  while (tree != 0) {
    const MappingRecord& record = RecordOf(tree);
    if (record.begin >= address) first = tree;
    tree = record.begin >= address ? record.below : record.above;
  }
  return first;
}

void Insert(Tree& tree, std::uint32_t id) {
  RecordOf(id).below = 0;
  RecordOf(id).above = 0;
  const Halves halves = Split(tree, RecordOf(id).begin);
  tree = Join(Join(halves.below, id), halves.rest);
}

void Remove(Tree& tree, std::uint32_t id) {
  const Halves before = Split(tree, RecordOf(id).begin);
  const Halves after = Split(before.rest, RecordOf(id).begin + 1);
  tree = Join(before.below, after.rest);
}

std::uint32_t Pop(Tree& tree) {
  const std::uint32_t id = tree;
  tree = Join(RecordOf(id).below, RecordOf(id).above);
  return id;
}

}  // namespace leakgate::agent::mapping_tree
