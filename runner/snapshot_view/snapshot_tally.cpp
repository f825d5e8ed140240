#include "runner/snapshot_view/snapshot_tally.h"

#include <algorithm>
#include <bit>

namespace leakgate {
namespace {

template <typename Entry>
Entry& At(std::vector<Entry>& entries, std::uint32_t index) {
  if (index >= entries.size()) {
    entries.resize(std::max<std::size_t>(std::size_t{index} + 1, entries.size() * 2));
  }
  return entries[index];
}

std::size_t SizeClassOf(std::uint64_t bytes) {
  return bytes <= 1 ? 0 : static_cast<std::size_t>(std::bit_width(bytes - 1));
}

}  // namespace

void SnapshotTally::Add(const LiveBlock& block) {
  const Amount amount{static_cast<std::int64_t>(block.size_bytes), 1};
  total_ += amount;
  StackTally& stack = At(by_stack_, block.stack);
  stack.bytes += amount.bytes;
  ++stack.blocks;
  stack.first_window = std::min(stack.first_window, block.window);
  stack.last_window = std::max(stack.last_window, block.window);
  At(by_window_, block.window) += amount;
  At(by_thread_, block.thread) += amount;
  by_kind_[static_cast<std::size_t>(block.kind)] += amount;
  by_size_[SizeClassOf(block.size_bytes)] += amount;
}

}  // namespace leakgate
