// Reads a snapshot, and counts its blocks for all the groups in which they are shown.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runner/base/expected.h"
#include "runner/budget/budget_set.h"
#include "runner/region/amount.h"
#include "runner/region/region_copies.h"
#include "runner/result/finding.h"
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

// The amounts of a snapshot's blocks, counted in one pass. Nothing is kept of a block itself.
class SnapshotTally {
 public:
  // Class n has blocks of at most 1 << n bytes and more than half of that; class 0 has blocks of
  // 0 and 1 bytes.
  static constexpr std::size_t kSizeClasses = 64;
  static constexpr std::size_t kKinds = 7;

  void Add(const LiveBlock& block);

  const Amount& total() const { return total_; }
  // Indexed by id. Ids beyond the end have no blocks.
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

// What is to be shown of a snapshot.
struct SnapshotQuery {
  // Patterns as in budget files; each must match a frame of a block's stack.
  std::vector<std::string> filters;
  std::vector<BudgetFile> budgets;  // they define the components
  // Earlier snapshots, or directories of them, that tell the age of blocks. Without them, windows
  // tell it.
  std::vector<std::filesystem::path> since{};
};

// A snapshot with its counts. It cannot be moved, since its members refer to each other.
class SnapshotView {
 public:
  explicit SnapshotView(SnapshotQuery query, Symbolizer symbolizer = Symbolizer());
  SnapshotView(const SnapshotView&) = delete;
  SnapshotView& operator=(const SnapshotView&) = delete;

  // Call it once.
  [[nodiscard]] Expected<void> Read(const std::filesystem::path& file);

  [[nodiscard]] const SnapshotContents& contents() const { return contents_; }
  [[nodiscard]] const SnapshotTally& tally() const { return tally_; }
  [[nodiscard]] StackFrames& frames() { return frames_; }
  [[nodiscard]] bool HasComponents() const { return !query_.budgets.empty(); }
  [[nodiscard]] const std::vector<std::string>& filters() const { return query_.filters; }

  // Returns nullptr if no earlier snapshots were named.
  [[nodiscard]] const SnapshotAges* ages() const { return ages_.get(); }

  // Tells whether the blocks of `stack` are to be shown.
  [[nodiscard]] bool Matches(std::uint32_t stack) { return filters_.Match(stack); }

  // Returns the component that is charged with what `stack` allocated, or an empty text.
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
  std::optional<BudgetSet> budgets_;  // set when the program is known
  std::vector<const BudgetFile*> owners_;
  InnermostAnswer owner_of_;  // answers the index in owners_, plus 1
};

}  // namespace leakgate
