// The blocks of a snapshot, counted by all that they are looked at by, in one pass: nothing
// is kept of a block itself.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "runner/region/amount.h"
#include "runner/region/live_block.h"

namespace leakgate {

// The blocks of one stack.
struct StackTally {
  std::int64_t bytes = 0;
  std::int64_t blocks = 0;
  std::uint32_t first_window = UINT32_MAX;  // the earliest that one was allocated in
  std::uint32_t last_window = 0;

  Amount amount() const { return {bytes, blocks}; }
};

class SnapshotTally {
 public:
  // Class n: at most 1 << n bytes, and more than half of that; class 0: 0 and 1 bytes.
  static constexpr std::size_t kSizeClasses = 64;
  static constexpr std::size_t kKinds = 7;

  void Add(const LiveBlock& block);

  const Amount& total() const { return total_; }
  // By id; what is beyond the end is none.
  const std::vector<StackTally>& by_stack() const { return by_stack_; }
  const std::vector<Amount>& by_window() const { return by_window_; }
  const std::vector<Amount>& by_thread() const { return by_thread_; }
  const std::array<Amount, kKinds>& by_kind() const { return by_kind_; }
  const std::array<Amount, kSizeClasses>& by_size() const { return by_size_; }

 private:
  Amount total_;
  std::vector<StackTally> by_stack_;
  std::vector<Amount> by_window_;
  std::vector<Amount> by_thread_;
  std::array<Amount, kKinds> by_kind_{};
  std::array<Amount, kSizeClasses> by_size_{};
};

}  // namespace leakgate
