#include "runner/reach/block_index.h"

#include <algorithm>
#include <cstdlib>
#include <new>

#include "common/region_layout.h"

namespace leakgate {
namespace {

constexpr std::uint64_t kAddressEnd = 1ULL << kAddressBits;

// calloc takes fresh pages, which cost no memory until they are written.
std::uint32_t* AllocateZeros(std::size_t count) {
  void* const zeros = std::calloc(count, sizeof(std::uint32_t));
  if (zeros == nullptr) throw std::bad_alloc();
  return static_cast<std::uint32_t*>(zeros);
}

}  // namespace

void BlockIndex::Free::operator()(std::uint32_t* entries) const { std::free(entries); }

BlockIndex::BlockIndex(std::span<const LiveBlock> blocks)
    : directory_(AllocateZeros(kAddressEnd >> kStretchShift)) {
  begins_.reserve(blocks.size());
  ends_.reserve(blocks.size());
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const std::uint64_t begin = blocks[i].address;
    const std::uint64_t next = i + 1 < blocks.size() ? blocks[i + 1].address : kAddressEnd;
    const std::uint64_t size = std::max<std::uint64_t>(blocks[i].size_bytes, 1);
    begins_.push_back(begin);
    ends_.push_back(size < next - begin ? begin + size : next);
  }
  if (begins_.empty()) return;

  lowest_ = begins_.front();
  extent_ = ends_.back() - lowest_;
  const auto count = static_cast<std::uint32_t>(begins_.size());
  for (std::uint32_t first = 0; first < count;) {
    const std::uint64_t stretch = begins_[first] >> kStretchShift;
    std::uint32_t last = first + 1;
    while (last < count && begins_[last] >> kStretchShift == stretch) ++last;
    AddTable(first, last);
    CoverStretches(last - 1);
    first = last;
  }
}

void BlockIndex::AddTable(std::uint32_t first, std::uint32_t last) {
  Table table(kBuckets + 1);
  table[0] = first;
  std::uint32_t block = first;
  for (std::uint32_t bucket = 0; bucket < kBuckets; ++bucket) {
    while (block < last && ((begins_[block] >> kBucketShift) & (kBuckets - 1)) == bucket) ++block;
    table[bucket + 1] = block;
  }
  tables_.push_back(std::move(table));
  directory_[begins_[first] >> kStretchShift] = static_cast<std::uint32_t>(tables_.size());
}

void BlockIndex::CoverStretches(std::uint32_t block) {
  const std::uint64_t last = (ends_[block] - 1) >> kStretchShift;
  for (std::uint64_t at = (begins_[block] >> kStretchShift) + 1; at <= last; ++at) {
    directory_[at] = kCoveredBit | block;
  }
}

std::uint32_t BlockIndex::FindInStretch(std::uint32_t entry, std::uint64_t word) const {
  std::uint32_t block = entry & ~kCoveredBit;
  if ((entry & kCoveredBit) == 0) {
    const Table& table = tables_[entry - 1];
    const std::uint64_t bucket = (word >> kBucketShift) & (kBuckets - 1);
    const auto first = begins_.begin() + table[bucket];
    const auto after = std::upper_bound(first, begins_.begin() + table[bucket + 1], word);
    if (after == begins_.begin()) return kNone;
    block = static_cast<std::uint32_t>(after - begins_.begin()) - 1;
  }
  return word < ends_[block] ? block : kNone;
}

}  // namespace leakgate
