// Finds out the age of a snapshot's blocks from earlier snapshots of the same process (`--since`):
// a block is as old as the first snapshot since which all have it.
//
//   taken at   12:00   12:10   12:20   12:30 (shown)
//   block A      x       x       x       x     at least 30 min
//   block B      -       x       x       x     20 to 30 min
//   block C      x       -       x       x     10 to 20 min: freed in between
//   block D      -       -       -       x     less than 10 min
//
// Files are read side by side, in memory that does not grow with their blocks. A block that was
// freed and allocated again at the same place, by the same stack, counts as the same.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "runner/base/expected.h"
#include "runner/region/amount.h"
#include "runner/snapshot/view/block_stream.h"

namespace leakgate {

class SnapshotAges {
 public:
  // `since` contains files and directories. A directory stands for its earlier snapshots of the
  // same process. If there are more than kMostFiles, some are left out at even distances. Returns a
  // usage error if a named file is of another process or not earlier, or if a directory has no such
  // snapshot.
  [[nodiscard]] static Expected<std::unique_ptr<SnapshotAges>> Open(
      const std::vector<std::filesystem::path>& since, const SnapshotFacts& shown);
  static constexpr std::size_t kMostFiles = 32;

  // Adds the frames of the shown snapshot. REQUIRES: `nodes` are all those read so far, before
  // blocks that refer to them are added.
  void AddUpTo(std::span<const SnapshotNode> nodes) {
    shown_stacks_.Add(nodes.subspan(known_nodes_));
    known_nodes_ = nodes.size();
  }

  enum class Counting { kYes, kNo };
  // Adds the next block of the shown snapshot, by address.
  [[nodiscard]] Expected<void> Add(LiveBlock block, Counting counting);

  // Reads the rest of the earlier files. Must be called once, after all blocks have been added.
  [[nodiscard]] Expected<void> Finish();

  struct Age {
    std::string name;   // "10 min to 20 min"
    std::string place;  // "first in b.snapshot"
    Amount amount;
  };
  // Returns the ages that blocks have, the oldest first. REQUIRES: Finish was called.
  [[nodiscard]] std::vector<Age> Ages() const;

 private:
  struct Earlier {
    std::string file;
    SnapshotFacts facts;
    std::unique_ptr<BlockStream> blocks;
  };

  explicit SnapshotAges(const SnapshotFacts& shown);
  [[nodiscard]] static Expected<Earlier> Look(const std::filesystem::path& file);
  [[nodiscard]] bool IsEarlier(const Earlier& it) const {
    return it.facts.taken_ns < shown_.taken_ns;
  }
  [[nodiscard]] Expected<void> AddFile(const std::filesystem::path& file);
  [[nodiscard]] Expected<void> AddDirectory(const std::filesystem::path& directory);
  [[nodiscard]] Expected<void> Begin();
  [[nodiscard]] std::string NameOf(std::size_t first) const;

  const SnapshotFacts shown_;
  std::vector<SnapshotNode> nodes_;
  CommonStacks stacks_;
  CommonStacks::Translation shown_stacks_;
  std::size_t known_nodes_ = kStackRootCount;  // how many AddUpTo has seen
  std::vector<Earlier> earlier_;               // the oldest first
  std::vector<Amount> amounts_;  // by the first file that has them; last: those in no file
};

}  // namespace leakgate
