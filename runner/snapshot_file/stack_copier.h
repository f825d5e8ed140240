// Takes call stacks from a region into a snapshot file, each frame once, when a block first
// needs it: stacks that nothing live was allocated by are left out. Used by WriteSnapshot.
#pragma once

#include <cstdint>
#include <vector>

#include "runner/region/region_reader.h"
#include "runner/snapshot_file/snapshot_writer.h"

namespace leakgate {

class StackCopier {
 public:
  // Both outlive it.
  StackCopier(const RegionReader& region, SnapshotWriter& writer);

  // The id in the file of the region's stack `id`. What the process has scribbled on, or
  // made while the file was written, ends early: as one for which the table was full.
  [[nodiscard]] std::uint32_t Copy(std::uint32_t id) {
    const std::uint32_t known = id < copied_.size() ? copied_[id] : 0;
    return known != 0 ? known : CopyNew(id);
  }

 private:
  std::uint32_t CopyNew(std::uint32_t id);
  std::uint32_t Module(std::uint32_t id);

  const RegionReader& region_;
  SnapshotWriter& writer_;
  std::vector<std::uint32_t> copied_;  // by the region's id; 0: not yet
  std::vector<bool> modules_;
};

}  // namespace leakgate
