#include "runner/region/live_chunks.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <optional>
#include <utility>

#include "common/region_layout.h"
#include "runner/base/page_size.h"

namespace leakgate {
namespace {

// cachestat() of Linux 6.5, which older headers do not have.
constexpr long kCacheStat = 451;
struct CacheStatRange {
  std::uint64_t offset;
  std::uint64_t length;
};
struct CacheStat {
  std::uint64_t in_memory;
  std::uint64_t dirty;
  std::uint64_t in_writeback;
  std::uint64_t evicted;  // of shared memory: swapped out
  std::uint64_t recently_evicted;
};

// Returns how many pages there are; nothing if the kernel does not say.
std::optional<std::uint64_t> CountPages(const UniqueFd& fd, FileRange range) {
  CacheStatRange wanted{range.begin, range.end - range.begin};
  CacheStat counted{};
  if (::syscall(kCacheStat, fd.get(), &wanted, &counted, 0) != 0) return std::nullopt;
  return counted.in_memory + counted.evicted;
}

std::uint64_t PagesIn(const std::vector<FileRange>& ranges) {
  std::uint64_t pages = 0;
  for (const FileRange& range : ranges) pages += (range.end - range.begin) / PageBytes();
  return pages;
}

}  // namespace

// Mappings are kept while they are few.
Expected<std::shared_ptr<const Mapping>> LiveChunks::Map(std::uint32_t chunk) {
  constexpr std::size_t kMostKept = 64;
  const std::uint64_t begin = region_offset::kChunks + chunk * kChunkBytes;
  Expected<Mapping> mapping = Mapping::Map(fd_, begin, kChunkBytes, MappingAccess::kReadOnly);
  if (!mapping && kept_ != 0) {
    for (auto& [number, known] : known_) known.mapping.reset();
    kept_ = 0;
    mapping = Mapping::Map(fd_, begin, kChunkBytes, MappingAccess::kReadOnly);
  }
  if (!mapping) return Unexpected(mapping.error());
  auto shared = std::make_shared<const Mapping>(*std::move(mapping));
  if (kept_ < kMostKept) {
    known_[chunk].mapping = shared;
    ++kept_;
  }
  return shared;
}

Expected<LiveChunk> LiveChunks::Get(std::uint32_t chunk) {
  const std::scoped_lock lock(mutex_);
  std::shared_ptr<const Mapping> mapping = known_[chunk].mapping;
  if (mapping == nullptr) {
    LEAKGATE_TRY_ASSIGN(std::shared_ptr<const Mapping> mapped, Map(chunk));
    mapping = std::move(mapped);
  }
  const std::uint64_t begin = region_offset::kChunks + chunk * kChunkBytes;
  const FileRange range{begin, begin + kChunkBytes};
  Known& known = known_[chunk];
  if (known.data == nullptr || CountPages(fd_, range) != known.pages) {
    known.data = std::make_shared<const std::vector<FileRange>>(DataRanges(fd_, range));
    known.pages = PagesIn(*known.data);
  }
  return LiveChunk{std::move(mapping), known.data};
}

std::set<std::uint64_t> LiveChunks::PagesSearchedFirst() {
  const std::scoped_lock lock(mutex_);
  return searched_first_;
}

void LiveChunks::SearchFirst(std::set<std::uint64_t> pages) {
  const std::scoped_lock lock(mutex_);
  searched_first_ = std::move(pages);
}

void LiveChunks::ReleasePages() {
  const std::scoped_lock lock(mutex_);
  for (const auto& [chunk, known] : known_) {
    if (known.mapping != nullptr) known.mapping->ReleasePages();
  }
}

}  // namespace leakgate
