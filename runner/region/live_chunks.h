// Maps the chunks of a region's live map, and remembers which of their pages exist. The map is
// sparse, and asking for each hole of it takes two system calls: so the kernel is asked how many
// pages there are. A page that exists stays, so where they are no more than were found, they are
// the same ones.
//
// Any thread may use it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "runner/base/descriptors.h"
#include "runner/base/expected.h"

namespace leakgate {

struct LiveChunk {
  std::shared_ptr<const Mapping> mapping;
  std::shared_ptr<const std::vector<FileRange>> data;  // what has pages, by place in the file
};

class LiveChunks {
 public:
  // REQUIRES: `fd` outlives the object.
  explicit LiveChunks(const UniqueFd& fd) : fd_(fd) {}

  // Fails if the address space is too small.
  [[nodiscard]] Expected<LiveChunk> Get(std::uint32_t chunk);

  // Lets go of the memory that reading has mapped. It is mapped again as it is read.
  void ReleasePages();

 private:
  struct Known {
    std::shared_ptr<const Mapping> mapping;  // null if it is not kept
    std::shared_ptr<const std::vector<FileRange>> data;
    std::uint64_t pages = 0;  // in `data`
  };

  [[nodiscard]] Expected<std::shared_ptr<const Mapping>> Map(std::uint32_t chunk);

  const UniqueFd& fd_;
  std::mutex mutex_;
  std::map<std::uint32_t, Known> known_;
  std::size_t kept_ = 0;  // mappings
};

}  // namespace leakgate
