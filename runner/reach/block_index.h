// From a word to the live block that it points into. Pure; built once, then read.
//
// Two steps: the directory tells the stretch of 64 MiB, its table the KiB, which
// has sixteen blocks or so, and at most 64. Most words are no pointers, and are
// told so by the bounds alone or by the directory.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runner/region/live_block.h"

namespace leakgate {

class BlockIndex {
 public:
  static constexpr std::uint32_t kNone = 0xFFFF'FFFF;

  // `blocks` by address. What of a block reaches into the next one is not its own:
  // the process may have written any size.
  explicit BlockIndex(std::span<const LiveBlock> blocks);

  // The block whose [address, address + size) has `word`; one of no bytes has its
  // address alone.
  [[nodiscard]] std::uint32_t Find(std::uint64_t word) const {
    if (word - lowest_ >= extent_) return kNone;
    const std::uint32_t entry = directory_[word >> kStretchShift];
    return entry == 0 ? kNone : FindIn(entry, word);
  }

  [[nodiscard]] std::size_t size() const { return begins_.size(); }
  [[nodiscard]] std::uint64_t begin(std::uint32_t block) const { return begins_[block]; }
  [[nodiscard]] std::uint64_t end(std::uint32_t block) const { return ends_[block]; }

 private:
  static constexpr std::uint32_t kStretchShift = 26;
  static constexpr std::uint32_t kBucketShift = 10;
  static constexpr std::uint32_t kBuckets = 1U << (kStretchShift - kBucketShift);
  // In the directory: no table, but the number of the one block that covers it.
  static constexpr std::uint32_t kCoveredBit = 1U << 31;

  // Of each bucket, how many blocks begin before its end, from block 0 on; in
  // front of them, how many before the first.
  using Table = std::vector<std::uint32_t>;

  std::uint32_t FindIn(std::uint32_t entry, std::uint64_t word) const;
  void AddTable(std::uint32_t first, std::uint32_t last);
  void Cover(std::uint32_t block);

  struct Free {
    void operator()(std::uint32_t* entries) const;
  };

  std::uint64_t lowest_ = 0;
  std::uint64_t extent_ = 0;
  std::vector<std::uint64_t> begins_;
  std::vector<std::uint64_t> ends_;
  std::unique_ptr<std::uint32_t[], Free> directory_;  // 0: nothing; else the table's number plus 1
  std::vector<Table> tables_;
};

}  // namespace leakgate
