// Which parts of a region have been written. A region is sparse: to read what was never written
// would take memory for it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runner/base/descriptors.h"

namespace leakgate {

// Returns whether all of a mapping of a region can be read. Otherwise the region is damaged: it
// claims memory that the process has never asked for.
[[nodiscard]] bool CanBeRead(const Mapping& mapping);

class WrittenPages {
 public:
  // REQUIRES: `region`, a region's descriptor, outlives the object.
  explicit WrittenPages(const UniqueFd& region) : region_(region) {}

  // Returns how many pages of `within` exist. Pages that exist stay, so while their number is the
  // same, they are the same. Returns nothing if that is not known.
  [[nodiscard]] std::optional<std::uint64_t> Count(FileRange within);
  // Returns them, or `within` if that is not known.
  [[nodiscard]] std::vector<FileRange> Find(FileRange within);

 private:
  const UniqueFd& region_;
  std::optional<Mapping> notes_;  // where the agent notes them
};

}  // namespace leakgate
