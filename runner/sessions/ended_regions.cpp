#include "runner/sessions/ended_regions.h"

#include <algorithm>
#include <map>
#include <optional>

namespace leakgate {
namespace {

struct Sum {
  std::uint64_t bytes = 0;
  std::size_t count = 0;
};

enum class Measure { kBytes, kCount };

// The regions that are still kept.
class Kept {
 public:
  explicit Kept(const std::vector<EndedRegion>& regions)
      : regions_(regions), is_kept_(regions.size(), true) {
    for (const EndedRegion& region : regions) {
      sum_.bytes += region.bytes;
      ++sum_.count;
    }
  }

  // Returns the bound that is exceeded; nothing if none is.
  std::optional<Measure> Exceeded(const EndedBounds& bounds) const {
    if (sum_.bytes > bounds.bytes) return Measure::kBytes;
    if (sum_.count > bounds.count) return Measure::kCount;
    return std::nullopt;
  }

  // Returns false if no region may be released.
  bool ReleaseOne(Measure measure, bool may_be_awaited) {
    const auto may_go = [&](std::size_t i) {
      return is_kept_[i] && (may_be_awaited || !regions_[i].is_awaited);
    };
    std::map<unsigned, Sum> users;
    for (std::size_t i = 0; i < regions_.size(); ++i) {
      if (!may_go(i)) continue;
      users[regions_[i].uid].bytes += regions_[i].bytes;
      ++users[regions_[i].uid].count;
    }
    if (users.empty()) return false;
    const unsigned user =
        std::max_element(users.begin(), users.end(), [&](const auto& a, const auto& b) {
          return measure == Measure::kBytes ? a.second.bytes < b.second.bytes
                                            : a.second.count < b.second.count;
        })->first;
    std::size_t oldest = 0;
    while (!may_go(oldest) || regions_[oldest].uid != user) ++oldest;
    is_kept_[oldest] = false;
    sum_.bytes -= regions_[oldest].bytes;
    --sum_.count;
    return true;
  }

  std::vector<std::size_t> Released() const {
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < is_kept_.size(); ++i) {
      if (!is_kept_[i]) places.push_back(i);
    }
    return places;
  }

 private:
  const std::vector<EndedRegion>& regions_;
  std::vector<bool> is_kept_;
  Sum sum_;
};

}  // namespace

std::vector<std::size_t> RegionsToRelease(const std::vector<EndedRegion>& regions,
                                          const EndedBounds& bounds) {
  Kept kept(regions);
  while (const std::optional<Measure> measure = kept.Exceeded(bounds)) {
    if (!kept.ReleaseOne(*measure, false)) break;
  }
  while (const auto measure = kept.Exceeded({2 * bounds.bytes, 2 * bounds.count})) {
    (void)kept.ReleaseOne(*measure, true);
  }
  return kept.Released();
}

}  // namespace leakgate
