// Address ranges and what lies there, for look-up by address. Filled once,
// sealed, then read.
//
// Ranges may nest or overlap (aliases, broken debug information): the one that
// begins last before the address and covers it is found.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace leakgate {

template <typename Value>
class RangeMap {
 public:
  void Add(std::uint64_t begin, std::uint64_t end, Value value) {
    if (begin < end) ranges_.push_back({begin, end, std::move(value)});
  }

  // Equal ranges keep the order in which they were added: the last one is found.
  void Seal() {
    std::stable_sort(ranges_.begin(), ranges_.end(),
                     [](const Range& a, const Range& b) { return a.begin < b.begin; });
  }

  // REQUIRES: sealed.
  [[nodiscard]] const Value* Find(std::uint64_t address) const {
    auto range = std::upper_bound(
        ranges_.begin(), ranges_.end(), address,
        [](std::uint64_t wanted, const Range& candidate) { return wanted < candidate.begin; });
    for (std::size_t step = 0; range != ranges_.begin() && step < kMostNested; ++step) {
      --range;
      if (address < range->end) return &range->value;
    }
    return nullptr;
  }

 private:
  // How many ranges may begin between one that covers an address and the
  // address, before the search is given up.
  static constexpr std::size_t kMostNested = 64;

  struct Range {
    std::uint64_t begin;
    std::uint64_t end;
    Value value;
  };

  std::vector<Range> ranges_;
};

}  // namespace leakgate
