// How old the blocks of a snapshot are, told by earlier snapshots of the same process
// (`--since`): a block is as old as the first of them from which on all have it.
//
//   taken at   12:00   12:10   12:20   12:30 (shown)
//   block A      x       x       x       x     at least 30 min
//   block B      -       x       x       x     20 to 30 min
//   block C      x       -       x       x     10 to 20 min: freed in between
//   block D      -       -       -       x     less than 10 min
//
// Files are read side by side, in memory that does not grow with their blocks. A block that
// was freed and allocated again just so, between two of them, cannot be told from itself.
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
  // `since`: files, and directories, which stand for the earlier snapshots of the same process
  // in them; of more than kMostFiles, some are left out evenly. A usage error if one that is
  // named is of another process or not earlier, or there is none.
  [[nodiscard]] static Expected<std::unique_ptr<SnapshotAges>> Open(
      const std::vector<std::filesystem::path>& since, const SnapshotFacts& shown);
  static constexpr std::size_t kMostFiles = 32;

  // The frames of the shown snapshot that its next blocks have, and all that came before.
  void AddUpTo(std::span<const SnapshotNode> nodes) {
    shown_stacks_.Add(nodes.subspan(known_nodes_));
    known_nodes_ = nodes.size();
  }

  enum class Counting { kYes, kNo };
  // Its next block, by address.
  [[nodiscard]] Expected<void> Add(LiveBlock block, Counting counting);

  // Reads the rest of the earlier ones. Once, after all blocks.
  [[nodiscard]] Expected<void> Finish();

  struct Age {
    std::string name;   // "10 min to 20 min"
    std::string place;  // "first in b.snapshot"
    Amount amount;
  };
  // The oldest first; without those that have nothing. REQUIRES: Finish.
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
  std::size_t known_nodes_ = kStackRootCount;  // of those
  std::vector<Earlier> earlier_;               // the oldest first
  std::vector<Amount> amounts_;  // by the first that has it; last: of those that none has
};

}  // namespace leakgate
