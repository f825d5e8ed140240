// Finds the live block that a word points into. Pure; an index is built once, and then read.
//
// A search takes two steps: a directory has an entry for each stretch of 64 MiB, and the table of a
// stretch one for each KiB, in which about sixteen blocks begin, and at most 64. Most words are no
// pointers: the bounds of all blocks or the directory exclude them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runner/region/region_copies.h"

namespace leakgate {

class BlockIndex {
 public:
  static constexpr std::uint32_t kNone = 0xFFFF'FFFF;

  // A block that would reach into the next one ends there: the process may have written any size.
  // REQUIRES: `blocks` are sorted by address.
  explicit BlockIndex(std::span<const LiveBlock> blocks);

  // Returns the number of the block whose [address, address + size) has `word`; kNone if there is
  // none. A block of no bytes has its address alone.
  [[nodiscard]] std::uint32_t Find(std::uint64_t word) const {
    if (word - lowest_ >= extent_) return kNone;
    const std::uint32_t entry = directory_[word >> kStretchShift];
    return entry == 0 ? kNone : FindInStretch(entry, word);
  }

  [[nodiscard]] std::size_t size() const { return begins_.size(); }
  [[nodiscard]] std::uint64_t begin(std::uint32_t block) const { return begins_[block]; }
  [[nodiscard]] std::uint64_t end(std::uint32_t block) const { return ends_[block]; }

 private:
  static constexpr std::uint32_t kStretchShift = 26;
  static constexpr std::uint32_t kBucketShift = 10;
  static constexpr std::uint32_t kBuckets = 1U << (kStretchShift - kBucketShift);
  // With this bit, an entry of the directory is the number of the block that covers the stretch.
  static constexpr std::uint32_t kCoveredBit = 1U << 31;

  // How many blocks, of all, begin before the first bucket, and before the end of each bucket.
  using Table = std::vector<std::uint32_t>;

  std::uint32_t FindInStretch(std::uint32_t entry, std::uint64_t word) const;
  void AddTable(std::uint32_t first, std::uint32_t last);
  // Enters `block`, the last that begins in a stretch, into the later stretches that it reaches
  // into. If other blocks begin in the last of those, a table replaces that entry.
  void CoverStretches(std::uint32_t block);

  struct Free {
    void operator()(std::uint32_t* entries) const;
  };

  std::uint64_t lowest_ = 0;
  std::uint64_t extent_ = 0;
  std::vector<std::uint64_t> begins_;
  std::vector<std::uint64_t> ends_;
  std::unique_ptr<std::uint32_t[], Free> directory_;  // 0 if empty; else a table's number plus 1
  std::vector<Table> tables_;
};

}  // namespace leakgate
