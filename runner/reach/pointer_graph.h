// The pointers of blocks to each other: four bytes for each, and for each block eight. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace leakgate {

class PointerGraph {
 public:
  void Reserve(std::size_t blocks) { begins_.reserve(blocks); }

  // Adds a block; the first one has number 0.
  void AddBlock() { begins_.push_back(targets_.size()); }
  // Says that the block that was added last leads to block `target`, which may be added later.
  void AddPointer(std::uint32_t target) { targets_.push_back(target); }

  [[nodiscard]] std::size_t size() const { return begins_.size(); }  // in blocks

  // Returns where the pointers of `block` lead, in the order in which they were added.
  [[nodiscard]] std::span<const std::uint32_t> Of(std::uint32_t block) const {
    const std::size_t begin = begins_[block];
    const std::size_t end = block + 1 < begins_.size() ? begins_[block + 1] : targets_.size();
    return {targets_.data() + begin, end - begin};
  }

 private:
  std::vector<std::size_t> begins_;  // of each block's targets
  std::vector<std::uint32_t> targets_;
};

}  // namespace leakgate
