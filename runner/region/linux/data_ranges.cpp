#include "runner/region/linux/data_ranges.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace leakgate {

std::vector<FileRange> DataRanges(const UniqueFd& fd, FileRange within) {
  std::vector<FileRange> ranges;
  for (std::uint64_t at = within.begin; at < within.end;) {
    const off_t data = ::lseek(fd.get(), static_cast<off_t>(at), SEEK_DATA);
    if (data < 0 && errno == ENXIO) return ranges;  // there is no page from `at` on
    if (data < 0) return {within};
    const auto begin = static_cast<std::uint64_t>(data);
    if (begin >= within.end) return ranges;
    const off_t hole = ::lseek(fd.get(), data, SEEK_HOLE);
    if (hole < 0) return {within};
    const std::uint64_t end = std::min(static_cast<std::uint64_t>(hole), within.end);
    ranges.push_back({begin, end});
    at = end;
  }
  return ranges;
}

}  // namespace leakgate
