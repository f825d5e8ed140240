#include "runner/region/written_pages.h"

#include <sys/syscall.h>
#include <unistd.h>

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

}  // namespace

bool CanBeRead(const Mapping&) { return true; }  // holes read as zeros

std::optional<std::uint64_t> WrittenPages::Count(FileRange within) {
  CacheStatRange wanted{within.begin, within.end - within.begin};
  CacheStat counted{};
  if (::syscall(kCacheStat, region_.get(), &wanted, &counted, 0) != 0) return std::nullopt;
  return counted.in_memory + counted.evicted;
}

std::vector<FileRange> WrittenPages::Find(FileRange within) { return DataRanges(region_, within); }

}  // namespace leakgate
