// Finds the live block that a word points into. Pure; an index is built once, and then read.
//
// A search takes three steps: a directory has a page for each 128 GiB, and that an entry for each
// stretch of 64 MiB; the table of a stretch has one for each KiB, in which about sixteen blocks
// begin, and at most 64. Most words are no pointers: the bounds of all blocks or the directory
// exclude them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runner/arch/pointer.h"
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
    word = AddressIn(word);
    if (word - lowest_ >= extent_) return kNone;
    const std::uint32_t entry = EntryOf(word >> kStretchShift);
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

  // The buckets of a stretch from the first in which a block begins to the last.
  struct Table {
    std::uint32_t first_bucket;
    // How many blocks, of all, begin before the first bucket, and before the end of each bucket.
    std::vector<std::uint32_t> blocks_before;
  };

  static std::uint32_t BucketOf(std::uint64_t address) {
    return static_cast<std::uint32_t>(address >> kBucketShift) & (kBuckets - 1);
  }

  std::uint32_t FindInStretch(std::uint32_t entry, std::uint64_t word) const;
  void AddTable(std::uint32_t first, std::uint32_t last);
  // Enters `block`, the last that begins in a stretch, into the later stretches that it reaches
  // into. If other blocks begin in the last of those, a table replaces that entry.
  void CoverStretches(std::uint32_t block);

  // The entries of neighbouring stretches: 0 if empty; else a table's number plus 1.
  static constexpr std::uint32_t kPageShift = 11;
  using Page = std::array<std::uint32_t, 1U << kPageShift>;

  std::uint32_t EntryOf(std::uint64_t stretch) const {
    const Page* const page = directory_[stretch >> kPageShift].get();
    return page == nullptr ? 0 : (*page)[stretch % page->size()];
  }
  std::uint32_t& EntryFor(std::uint64_t stretch);

  std::uint64_t lowest_ = 0;
  std::uint64_t extent_ = 0;
  std::vector<std::uint64_t> begins_;
  std::vector<std::uint64_t> ends_;
  std::vector<std::unique_ptr<Page>> directory_;  // null where all entries are empty
  std::vector<Table> tables_;
};

}  // namespace leakgate
