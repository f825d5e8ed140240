// The debug C runtime of Windows puts a header before each block, and all headers into one list. So
// a pointer to a header, and the words of one, hold no block.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runner/reach/nt/process_memory.h"
#include "runner/region/region_copies.h"

namespace leakgate {

struct DebugHeapSources {
  std::span<const LiveBlock> blocks;
  std::span<const std::uint32_t> candidates;  // numbers of blocks; BlockIndex::kNone: no block
  std::span<const ImageModule> modules;
};

// Sets in `header_bytes`, which tells of each block how much of its begin is a header, those of the
// debug runtime. A program may have that linked in. So unless one is loaded, some of the candidates
// are asked first, since to ask each block takes as long as the rest of a look: all of them up to
// 200, or that many in equal distances. The process is stopped.
void AddDebugHeaders(const DebugHeapSources& sources, ProcessMemory& memory,
                     std::vector<std::uint64_t>& header_bytes);

}  // namespace leakgate
