// Reads the memory of a process that does not run meanwhile. Pages that were
// never written are not asked for: asking would fill them in.
//
// Fails by reading less: what cannot be read is told as nothing. One thread, the
// one that froze the process.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "runner/base/descriptors.h"

namespace leakgate {

inline constexpr std::uint64_t kPageBytes = 4096;

struct AddressRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  friend bool operator==(const AddressRange&, const AddressRange&) = default;
};

class ProcessMemory {
 public:
  using Words = std::span<const std::uint64_t>;

  explicit ProcessMemory(int pid);

  // Copies [begin, end) as far as it can be read from `begin` on; returns how many
  // bytes that is.
  std::uint64_t Read(AddressRange range, void* to) const;

  // Calls `use(part)` for the parts of `range` that hold pages, in order.
  void ForEachPresent(AddressRange range, const std::function<void(AddressRange)>& use) const;

  // Whether the kernel passes over what holds no pages. An old one tells of each page, which
  // takes about a second for each TiB.
  [[nodiscard]] bool PassesOverHoles() const { return passes_over_holes_; }

  // Calls `use(address, words)` for the parts of `range` that hold pages, in order: with the
  // aligned words that lie in it as a whole. Nothing is kept.
  void ForEachPart(AddressRange range, const std::function<void(std::uint64_t, Words)>& use) const;

  // The words from `begin`, a multiple of 8, on and before `end`, as many as are in
  // one piece; never none. What cannot be read is zeros. Pieces are kept: the heap
  // is read block by block, and each page of it once.
  Words At(std::uint64_t begin, std::uint64_t end);

 private:
  static constexpr std::uint64_t kPieceBytes = 1U << 18;
  using Piece = std::unique_ptr<std::uint64_t[]>;

  Piece ReadPiece(std::uint64_t begin) const;
  std::vector<AddressRange> PresentIn(AddressRange range) const;
  // False if the kernel has no such call.
  bool ScanInto(AddressRange range, std::vector<AddressRange>& present) const;
  std::uint64_t ReadByFile(AddressRange range, void* to) const;

  int pid_;
  UniqueFd memory_;
  UniqueFd pages_;
  bool passes_over_holes_ = false;
  std::unordered_map<std::uint64_t, Piece> pieces_;
  std::uint64_t last_begin_ = 0;  // of the piece asked for last
  const std::uint64_t* last_ = nullptr;
};

// Sets of addresses, as ranges. Pure.

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
