// The debug C runtime of Windows (ucrtbased.dll, /MDd and /MTd) puts a header before each block,
// and all headers into one list. So a pointer to a header, and the words of one, hold no block.
#pragma once

#include <cstdint>
#include <vector>

#include "runner/reach/nt/process_memory.h"
#include "runner/region/region_copies.h"

namespace leakgate {

// Sets in `header_bytes`, which tells of each block how much of its begin is a header, those of the
// debug runtime. The process is stopped.
void AddDebugHeaders(const std::vector<LiveBlock>& blocks, ProcessMemory& memory,
                     std::vector<std::uint64_t>& header_bytes);

}  // namespace leakgate
