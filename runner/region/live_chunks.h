// Maps the chunks of a region's live map, and remembers which of their pages exist. The map is
// sparse, and finding each of its holes takes two system calls. So the kernel is only asked how
// many pages there are. A page that exists stays, so if there are no more pages than were found
// before, they are the same ones.
//
// Any thread may use it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "runner/base/descriptors.h"
#include "runner/base/expected.h"
#include "runner/region/written_pages.h"

namespace leakgate {

struct LiveChunk {
  std::shared_ptr<const Mapping> mapping;
  // The ranges that have pages, by position in the file.
  std::shared_ptr<const std::vector<FileRange>> data;
};

// Pages of the map, each of which has 1024 words; each list is sorted.
struct SearchedFirst {
  std::vector<std::uint64_t> newest;
  std::vector<std::uint64_t> others;
  std::uint64_t last = 0;  // of both
};

class LiveChunks {
 public:
  // REQUIRES: `fd` outlives the object.
  explicit LiveChunks(const UniqueFd& fd) : fd_(fd), written_(fd) {}

  // Fails if the address space is too small.
  [[nodiscard]] Expected<LiveChunk> Get(std::uint32_t chunk);
  // Likewise, without asking the kernel whether there are more pages than there were before.
  [[nodiscard]] Expected<LiveChunk> GetAsKnown(std::uint32_t chunk);

  // Which pages of the map to search for blocks first: the last few hundred that SearchFirst named.
  [[nodiscard]] SearchedFirst PagesSearchedFirst();
  void SearchFirst(const std::set<std::uint64_t>& pages);

  // Releases the memory that reading has mapped. It is mapped again when it is read.
  void ReleasePages();

 private:
  struct Known {
    std::shared_ptr<const Mapping> mapping;  // null if it is not kept
    std::shared_ptr<const std::vector<FileRange>> data;
    std::uint64_t pages = 0;  // in `data`
  };

  [[nodiscard]] Expected<std::shared_ptr<const Mapping>> Map(std::uint32_t chunk);
  [[nodiscard]] Expected<LiveChunk> GetLocked(std::uint32_t chunk, bool asks_kernel);

  const UniqueFd& fd_;
  std::mutex mutex_;
  WrittenPages written_;
  std::map<std::uint32_t, Known> known_;
  std::size_t kept_ = 0;                       // mappings
  std::vector<std::uint64_t> searched_first_;  // the newest last
};

}  // namespace leakgate
