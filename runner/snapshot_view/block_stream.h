// The blocks of a snapshot file, one at a time by address, so that several files of one
// process can be walked side by side. Internal to this folder.
#pragma once

#include <memory>
#include <vector>

#include "runner/base/expected.h"
#include "runner/snapshot_file/read_snapshot.h"
#include "runner/snapshot_view/common_stacks.h"
#include "runner/snapshot_view/snapshot_contents.h"

namespace leakgate {

// The facts of a file that has just been opened.
[[nodiscard]] Expected<SnapshotFacts> ReadFacts(SnapshotReader& reader);

// One allocation, and not another in its place, as far as the two snapshots tell. REQUIRES:
// both of one process, with ids of stacks that they share.
[[nodiscard]] bool AreOneBlock(const LiveBlock& a, const LiveBlock& b);

class BlockStream {
 public:
  // The facts have been read. `stacks`: of all files, which give blocks their ids; `contents`:
  // of all, to fill in modules, windows and threads, or nullptr. Both outlive this.
  BlockStream(SnapshotReader reader, CommonStacks& stacks, SnapshotContents* contents);
  BlockStream(const BlockStream&) = delete;
  BlockStream& operator=(const BlockStream&) = delete;

  // Reads on until there is a block, or the end.
  [[nodiscard]] Expected<void> Fill();
  // REQUIRES, as the next: Fill. nullptr: all have been read.
  [[nodiscard]] const LiveBlock* Get() const {
    return at_ < blocks_.size() ? &blocks_[at_] : nullptr;
  }
  void Skip() { ++at_; }

  // Once all blocks have been read.
  [[nodiscard]] const SnapshotClosing& closing() const { return closing_; }
  [[nodiscard]] const std::vector<SnapshotMapping>& mappings() const { return mappings_; }

 private:
  SnapshotReader reader_;
  CommonStacks::Translation stacks_;
  SnapshotVisitor visitor_;
  SnapshotClosing closing_;
  std::vector<SnapshotMapping> mappings_;
  std::vector<LiveBlock> blocks_;
  std::size_t at_ = 0;
};

}  // namespace leakgate
