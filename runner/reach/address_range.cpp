#include "runner/reach/address_range.h"

#include <algorithm>

namespace leakgate {
std::vector<AddressRange> JoinRanges(std::vector<AddressRange> ranges) {
  std::erase_if(ranges, [](const AddressRange& range) { return range.begin >= range.end; });
  std::sort(ranges.begin(), ranges.end(),
            [](const AddressRange& a, const AddressRange& b) { return a.begin < b.begin; });
  std::vector<AddressRange> joined;
  for (const AddressRange& range : ranges) AppendRange(range, joined);
  return joined;
}

std::vector<AddressRange> SubtractRanges(AddressRange range,
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
