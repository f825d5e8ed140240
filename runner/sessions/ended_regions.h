// Which regions of ended processes a session lets go of. Pure.
//
// What ended processes leave is held in memory until somebody asks for it, so it has a bound, in
// bytes and in number. Beyond it the user goes first whose ended processes hold most, and of that
// user's the oldest one: nobody's are lost by what another user runs, unless they hold more.
//
//   bound 100      user 1: 30, 20, 10     user 2: 50      let go: user 1's 30, for 60 > 50
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace leakgate {

struct EndedRegion {
  unsigned uid = 0;         // of the process
  std::uint64_t bytes = 0;  // that it holds in memory
  // Somebody is about to take what is in it: only what exceeds the bounds twice lets it go.
  bool is_awaited = false;
};

struct EndedBounds {
  std::uint64_t bytes = 0;
  std::size_t count = 0;
};

// Returns the places in `regions`, which has the oldest first, of those to let go; sorted.
[[nodiscard]] std::vector<std::size_t> RegionsToRelease(const std::vector<EndedRegion>& regions,
                                                        const EndedBounds& bounds);

}  // namespace leakgate
