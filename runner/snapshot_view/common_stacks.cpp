#include "runner/snapshot_view/common_stacks.h"

#include <numeric>

namespace leakgate {

std::uint32_t CommonStacks::IdOf(const SnapshotNode& node) {
  const auto [known, is_new] = ids_.try_emplace(node, static_cast<std::uint32_t>(nodes_.size()));
  if (is_new) nodes_.push_back(node);
  return known->second;
}

CommonStacks::Translation::Translation(CommonStacks& common)
    : common_(common), ids_(kStackRootCount) {
  std::iota(ids_.begin(), ids_.end(), 0U);
}

void CommonStacks::Translation::Add(std::span<const SnapshotNode> nodes) {
  for (const SnapshotNode& node : nodes) {
    ids_.push_back(common_.IdOf({node.pc, ids_[node.parent], node.module}));
  }
}

}  // namespace leakgate
