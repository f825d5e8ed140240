// Sets of addresses, as ranges. Pure.
#pragma once

#include <algorithm>
#include <vector>

#include "runner/reachability/linux/process_memory.h"

namespace leakgate {

// Sorted by address, overlaps and neighbours joined, empty ones left out.
inline std::vector<AddressRange> Joined(std::vector<AddressRange> ranges) {
  std::erase_if(ranges, [](const AddressRange& range) { return range.begin >= range.end; });
  std::sort(ranges.begin(), ranges.end(),
            [](const AddressRange& a, const AddressRange& b) { return a.begin < b.begin; });
  std::vector<AddressRange> joined;
  for (const AddressRange& range : ranges) {
    if (!joined.empty() && range.begin <= joined.back().end) {
      joined.back().end = std::max(joined.back().end, range.end);
    } else {
      joined.push_back(range);
    }
  }
  return joined;
}

// What of `range` is not in `excluded`, which is joined.
inline std::vector<AddressRange> Without(AddressRange range,
                                         const std::vector<AddressRange>& excluded) {
  std::vector<AddressRange> left;
  auto at = std::partition_point(
      excluded.begin(), excluded.end(),
      [&](const AddressRange& candidate) { return candidate.end <= range.begin; });
  std::uint64_t begin = range.begin;
  for (; at != excluded.end() && at->begin < range.end; ++at) {
    if (at->begin > begin) left.push_back({begin, at->begin});
    begin = std::max(begin, at->end);
  }
  if (begin < range.end) left.push_back({begin, range.end});
  return left;
}

}  // namespace leakgate
