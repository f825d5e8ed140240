#include "runner/reach/block_index.h"

#include <algorithm>

#include "common/region_layout.h"

namespace leakgate {
namespace {

constexpr std::uint64_t kAddressEnd = 1ULL << kAddressBits;

}  // namespace

std::uint32_t& BlockIndex::EntryFor(std::uint64_t stretch) {
  std::unique_ptr<Page>& page = directory_[stretch >> kPageShift];
  if (page == nullptr) page = std::make_unique<Page>();
  return (*page)[stretch % page->size()];
}

BlockIndex::BlockIndex(std::span<const LiveBlock> blocks)
    : directory_(kAddressEnd >> kStretchShift >> kPageShift) {
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
  Table table{BucketOf(begins_[first]), {first}};
  const std::uint32_t last_bucket = BucketOf(begins_[last - 1]);
  table.blocks_before.reserve(last_bucket - table.first_bucket + 2);
  std::uint32_t block = first;
  for (std::uint32_t bucket = table.first_bucket; bucket <= last_bucket; ++bucket) {
    while (block < last && BucketOf(begins_[block]) == bucket) ++block;
    table.blocks_before.push_back(block);
  }
  tables_.push_back(std::move(table));
  EntryFor(begins_[first] >> kStretchShift) = static_cast<std::uint32_t>(tables_.size());
}

void BlockIndex::CoverStretches(std::uint32_t block) {
  const std::uint64_t last = (ends_[block] - 1) >> kStretchShift;
  for (std::uint64_t at = (begins_[block] >> kStretchShift) + 1; at <= last; ++at) {
    EntryFor(at) = kCoveredBit | block;
  }
}

std::uint32_t BlockIndex::FindInStretch(std::uint32_t entry, std::uint64_t word) const {
  std::uint32_t block = entry & ~kCoveredBit;
  if ((entry & kCoveredBit) == 0) {
    const Table& table = tables_[entry - 1];
    const std::vector<std::uint32_t>& before = table.blocks_before;
    const std::uint32_t bucket = BucketOf(word);
    // In front of the first bucket and behind the last, the block before may reach there.
    const std::size_t end = bucket < table.first_bucket ? 0 : bucket - table.first_bucket + 1;
    const std::size_t begin = end == 0 ? 0 : end - 1;
    const auto first = begins_.begin() + before[std::min(begin, before.size() - 1)];
    const auto last = begins_.begin() + before[std::min(end, before.size() - 1)];
    const auto after = std::upper_bound(first, last, word);
    if (after == begins_.begin()) return kNone;
    block = static_cast<std::uint32_t>(after - begins_.begin()) - 1;
  }
  return word < ends_[block] ? block : kNone;
}

}  // namespace leakgate
