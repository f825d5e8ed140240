// Reads a snapshot, and counts its blocks for all the groups in which they are shown.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runner/base/expected.h"
#include "runner/region/amount.h"
#include "runner/region/region_copies.h"
#include "runner/snapshot/view/block_stream.h"
#include "runner/snapshot/view/call_tree.h"
#include "runner/snapshot/view/snapshot_ages.h"
#include "runner/snapshot/view/stack_lookup.h"

namespace leakgate {

// The blocks of one stack.
struct StackTally {
  std::int64_t bytes = 0;
  std::int64_t blocks = 0;
  std::uint32_t first_window = UINT32_MAX;  // the earliest that one was allocated in
  std::uint32_t last_window = 0;

  Amount amount() const { return {bytes, blocks}; }
};

// The amounts of a snapshot's blocks, counted in one pass. The blocks themselves are not kept.
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

// Returns the stacks that have blocks, by id.
[[nodiscard]] std::vector<StackAmount> AmountsByStack(const SnapshotTally& tally);

// What part of a snapshot is to be shown.
struct SnapshotQuery {
  StackQuery stacks{};  // of the blocks
  // Earlier snapshots, or directories of them, which show the age of blocks. Without them, windows
  // show it.
  std::vector<std::filesystem::path> since{};
};

// A snapshot with its counts. It cannot be moved, since its members refer to each other.
class SnapshotView {
 public:
  explicit SnapshotView(SnapshotQuery query, Symbolizer symbolizer = Symbolizer());
  SnapshotView(const SnapshotView&) = delete;
  SnapshotView& operator=(const SnapshotView&) = delete;

  // Call one of these two, once. `name` is the name of the source.
  [[nodiscard]] Expected<void> Read(const std::filesystem::path& file);
  [[nodiscard]] Expected<void> Read(SnapshotSource source, const std::string& name);
  // Reads the blocks once more. REQUIRES: the snapshot has been read.
  [[nodiscard]] Expected<void> ReadBlocks(
      const std::function<Expected<void>(std::span<const LiveBlock> blocks)>& use) const;

  [[nodiscard]] const SnapshotContents& contents() const { return contents_; }
  [[nodiscard]] const SnapshotTally& tally() const { return tally_; }
  [[nodiscard]] StackLookup& stacks() { return stacks_; }
  [[nodiscard]] StackFrames& frames() { return stacks_.frames(); }

  // Returns nullptr if no earlier snapshots were named.
  [[nodiscard]] const SnapshotAges* ages() const { return ages_.get(); }

  // Returns whether the blocks of `stack` are to be shown.
  [[nodiscard]] bool Matches(std::uint32_t stack) { return stacks_.Matches(stack); }

 private:
  Expected<void> Use(std::span<const LiveBlock> blocks);

  std::vector<std::filesystem::path> since_;
  SnapshotSource source_;
  SnapshotContents contents_;
  SnapshotTally tally_;
  std::unique_ptr<SnapshotAges> ages_;
  StackLookup stacks_;
};

}  // namespace leakgate
