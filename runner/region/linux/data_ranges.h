// Finds the parts of a sparse file that have pages. Reading a hole of shared memory through a
// mapping would allocate pages for it, so the runner never reads holes.
#pragma once

#include <cstdint>
#include <vector>

#include "runner/base/descriptors.h"

namespace leakgate {

struct FileRange {
  std::uint64_t begin = 0;  // in bytes
  std::uint64_t end = 0;
};

// Returns the ranges of `fd` within `within` that have pages, or `within` if the kernel cannot
// tell.
[[nodiscard]] std::vector<FileRange> DataRanges(const UniqueFd& fd, FileRange within);

}  // namespace leakgate
