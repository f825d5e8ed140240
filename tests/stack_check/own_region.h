// What leakgate has recorded of this program, read by the program itself: in its
// own mapping of the region. For programs under test only.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstring>

#include "common/region_layout.h"

namespace leakgate::check {

// Where the region's tables are mapped, or nullptr: not traced.
inline char* OwnRegion() {
  std::FILE* const maps = std::fopen("/proc/self/maps", "r");
  if (maps == nullptr) return nullptr;
  char line[512];
  unsigned long found = 0;
  while (found == 0 && std::fgets(line, sizeof(line), maps) != nullptr) {
    unsigned long begin = 0;
    unsigned long offset = 0;
    if (std::strstr(line, "memfd:leakgate") == nullptr) continue;
    if (std::sscanf(line, "%lx-%*x %*s %lx", &begin, &offset) == 2 && offset == 0) found = begin;
  }
  std::fclose(maps);
  return reinterpret_cast<char*>(found);
}

inline const RegionHeader& OwnHeader(const char* region) {
  return *reinterpret_cast<const RegionHeader*>(region);
}

inline StackNode* OwnStacks(char* region) {
  return reinterpret_cast<StackNode*>(region + region_offset::kStacks);
}

// Of all threads, so far.
inline std::uint64_t RecordedAllocations() {
  static const char* const region = OwnRegion();
  if (region == nullptr) return 0;
  const auto* const shards = reinterpret_cast<const CounterShard*>(region + region_offset::kShards);
  std::uint64_t blocks = 0;
  for (std::uint32_t i = 0; i < OwnHeader(region).shard_count; ++i) {
    blocks += shards[i].allocated.blocks;
  }
  return blocks;
}

}  // namespace leakgate::check
