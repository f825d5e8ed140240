// What is shown of a snapshot: its blocks in groups, the largest first.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runner/attribution/finding.h"
#include "runner/base/expected.h"
#include "runner/budget/budget_set.h"
#include "runner/region/amount.h"
#include "runner/region/live_block.h"
#include "runner/snapshot/view/block_stream.h"
#include "runner/snapshot/view/snapshot_ages.h"
#include "runner/snapshot/view/stack_frames.h"

namespace leakgate {

// The blocks of one stack.
struct StackTally {
  std::int64_t bytes = 0;
  std::int64_t blocks = 0;
  std::uint32_t first_window = UINT32_MAX;  // the earliest that one was allocated in
  std::uint32_t last_window = 0;

  Amount amount() const { return {bytes, blocks}; }
};

// The blocks of a snapshot, counted by all that they are looked at by, in one pass: nothing
// is kept of a block itself.
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

// What to look at, and how.
struct SnapshotQuery {
  // Each must match a frame of a block's stack: a pattern as budget files have it.
  std::vector<std::string> filters;
  std::vector<BudgetFile> budgets;  // what components there are
  // Earlier snapshots, which tell the blocks' age, and directories of them; none: the windows do.
  std::vector<std::filesystem::path> since{};
};

// A snapshot, read and counted. Not movable: its parts refer to each other.
class SnapshotView {
 public:
  explicit SnapshotView(SnapshotQuery query, Symbolizer symbolizer = Symbolizer());
  SnapshotView(const SnapshotView&) = delete;
  SnapshotView& operator=(const SnapshotView&) = delete;

  // Once.
  [[nodiscard]] Expected<void> Read(const std::filesystem::path& file);

  [[nodiscard]] const SnapshotContents& contents() const { return contents_; }
  [[nodiscard]] const SnapshotTally& tally() const { return tally_; }
  [[nodiscard]] StackFrames& frames() { return frames_; }
  [[nodiscard]] bool HasComponents() const { return !query_.budgets.empty(); }
  [[nodiscard]] const std::vector<std::string>& filters() const { return query_.filters; }

  // By earlier snapshots; nullptr: none were named.
  [[nodiscard]] const SnapshotAges* ages() const { return ages_.get(); }

  // Whether the blocks of `stack` are asked for.
  [[nodiscard]] bool Matches(std::uint32_t stack) { return filters_.Match(stack); }

  // The component that is charged with what `stack` allocated; empty: none.
  [[nodiscard]] std::string ComponentOf(std::uint32_t stack);

 private:
  Expected<void> Use(std::span<const LiveBlock> blocks);
  InnermostAnswer::Answer OwnerOfFrame(const Frame& frame) const;

  SnapshotQuery query_;
  SnapshotContents contents_;
  SnapshotTally tally_;
  std::unique_ptr<SnapshotAges> ages_;
  Symbolizer symbolizer_;
  StackFrames frames_;
  StackFilters filters_;
  std::optional<BudgetSet> budgets_;  // once the program is known
  std::vector<const BudgetFile*> owners_;
  InnermostAnswer owner_of_;  // its index, plus 1
};

}  // namespace leakgate
