// Where a sparse file holds anything at all. Reading a hole of shared memory
// through a mapping would fill it with pages, so holes are never touched.
#pragma once

#include <cstdint>
#include <vector>

#include "runner/base/descriptors.h"

namespace leakgate {

struct FileRange {
  std::uint64_t begin = 0;  // offsets in bytes
  std::uint64_t end = 0;
};

// The ranges of `fd` within [begin, end) that hold pages. Where the kernel
// cannot tell, the whole.
[[nodiscard]] std::vector<FileRange> DataRanges(const UniqueFd& fd, FileRange within);

}  // namespace leakgate
