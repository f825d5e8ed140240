#include "runner/region/live_chunks.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "common/region_layout.h"
#include "runner/base/page_size.h"
#include "runner/region/damage.h"

namespace leakgate {
namespace {

std::uint64_t PagesIn(const std::vector<FileRange>& ranges) {
  std::uint64_t pages = 0;
  for (const FileRange& range : ranges) pages += (range.end - range.begin) / PageBytes();
  return pages;
}

}  // namespace

// Mappings are kept while they are few.
Expected<std::shared_ptr<const Mapping>> LiveChunks::Map(std::uint32_t chunk) {
  constexpr std::size_t kMostKept = (4ULL << 30) >> kChunkShift;
  const std::uint64_t begin = region_offset::kChunks + chunk * kChunkBytes;
  Expected<Mapping> mapping = Mapping::Map(fd_, begin, kChunkBytes, MappingAccess::kReadOnly);
  if (!mapping && kept_ != 0) {
    for (auto& [number, known] : known_) known.mapping.reset();
    kept_ = 0;
    mapping = Mapping::Map(fd_, begin, kChunkBytes, MappingAccess::kReadOnly);
  }
  if (!mapping) return Unexpected(mapping.error());
  if (!CanBeRead(*mapping)) return InconclusiveError(DamageText());
  auto shared = std::make_shared<const Mapping>(*std::move(mapping));
  if (kept_ < kMostKept) {
    known_[chunk].mapping = shared;
    ++kept_;
  }
  return shared;
}

Expected<LiveChunk> LiveChunks::Get(std::uint32_t chunk) {
  const std::scoped_lock lock(mutex_);
  return GetLocked(chunk, true);
}

Expected<LiveChunk> LiveChunks::GetAsKnown(std::uint32_t chunk) {
  const std::scoped_lock lock(mutex_);
  return GetLocked(chunk, false);
}

Expected<LiveChunk> LiveChunks::GetLocked(std::uint32_t chunk, bool asks_kernel) {
  std::shared_ptr<const Mapping> mapping = known_[chunk].mapping;
  if (mapping == nullptr) {
    LEAKGATE_TRY_ASSIGN(std::shared_ptr<const Mapping> mapped, Map(chunk));
    mapping = std::move(mapped);
  }
  const std::uint64_t begin = region_offset::kChunks + chunk * kChunkBytes;
  const FileRange range{begin, begin + kChunkBytes};
  Known& known = known_[chunk];
  if (known.data == nullptr || (asks_kernel && written_.Count(range) != known.pages)) {
    known.data = std::make_shared<const std::vector<FileRange>>(written_.Find(range));
    known.pages = PagesIn(*known.data);
  }
  return LiveChunk{std::move(mapping), known.data};
}

SearchedFirst LiveChunks::PagesSearchedFirst() {
  constexpr std::size_t kNewest = 8;
  const std::scoped_lock lock(mutex_);
  const std::size_t others = searched_first_.size() - std::min(searched_first_.size(), kNewest);
  const auto newest = searched_first_.begin() + static_cast<std::ptrdiff_t>(others);
  SearchedFirst pages{.newest = {newest, searched_first_.end()},
                      .others = {searched_first_.begin(), newest}};
  for (std::vector<std::uint64_t>* const part : {&pages.newest, &pages.others}) {
    std::sort(part->begin(), part->end());
    if (!part->empty()) pages.last = std::max(pages.last, part->back());
  }
  return pages;
}

void LiveChunks::SearchFirst(const std::set<std::uint64_t>& pages) {
  constexpr std::size_t kMost = 256;
  const std::scoped_lock lock(mutex_);
  std::erase_if(searched_first_, [&](std::uint64_t page) { return pages.contains(page); });
  searched_first_.insert(searched_first_.end(), pages.begin(), pages.end());
  if (searched_first_.size() <= kMost) return;
  searched_first_.erase(searched_first_.begin(),
                        searched_first_.end() - static_cast<std::ptrdiff_t>(kMost));
}

void LiveChunks::ReleasePages() {
  const std::scoped_lock lock(mutex_);
  for (const auto& [chunk, known] : known_) {
    if (known.mapping != nullptr) known.mapping->ReleasePages();
  }
}

}  // namespace leakgate
