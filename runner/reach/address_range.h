// Ranges of a process's addresses.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace leakgate {

struct AddressRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  bool Has(std::uint64_t address) const { return address >= begin && address < end; }

  friend bool operator==(const AddressRange&, const AddressRange&) = default;
};

// Adds a range that begins where the last one begins, or later. Pure.
inline void AppendRange(AddressRange range, std::vector<AddressRange>& ranges) {
  if (!ranges.empty() && range.begin <= ranges.back().end) {
    ranges.back().end = std::max(ranges.back().end, range.end);
  } else {
    ranges.push_back(range);
  }
}

// Sorts ranges by address, joins those that overlap or touch, and leaves out empty ones. Pure.
[[nodiscard]] std::vector<AddressRange> JoinRanges(std::vector<AddressRange> ranges);

// Returns the parts of `range` that are not in `excluded`. Pure. REQUIRES: `excluded` is joined.
[[nodiscard]] std::vector<AddressRange> SubtractRanges(AddressRange range,
                                                       const std::vector<AddressRange>& excluded);

}  // namespace leakgate
