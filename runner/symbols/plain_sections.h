// Debug sections that are compressed by zstd (gcc and clang: -gz=zstd). elfutils reads them from
// version 0.189 on; Debian 12 and Ubuntu 22.04 have an older one.
#pragma once

#include "runner/base/descriptors.h"

namespace leakgate {

// Returns `file`; or, if debug sections in it are compressed by zstd, a copy in memory in which
// these are not. A section that cannot be decompressed stays as it is. The file is not trusted.
// Never fails: if there is no memory, it returns `file`.
[[nodiscard]] UniqueFd WithPlainSections(UniqueFd file);

}  // namespace leakgate
