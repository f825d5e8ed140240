// Decides which regions of ended processes a session releases. Pure.
//
// The regions of ended processes stay in memory until a command asks for them, so there is a limit
// on their bytes and on their number. If it is exceeded, the user comes first whose ended processes
// hold most, and of that user's regions the oldest one: nobody loses regions through what another
// user runs, unless he holds more.
//
//   limit 100      user 1: 30, 20, 10     user 2: 50      released: user 1's 30, for 60 > 50
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace leakgate {

struct EndedRegion {
  unsigned uid = 0;         // of the process
  std::uint64_t bytes = 0;  // that it holds in memory
  // A reader is about to take its content: it is released only if twice the limits are exceeded.
  bool is_awaited = false;
};

struct EndedBounds {
  std::uint64_t bytes = 0;
  std::size_t count = 0;
};

// Returns the indices of the regions to release, sorted. REQUIRES: `regions` has the oldest first.
[[nodiscard]] std::vector<std::size_t> RegionsToRelease(const std::vector<EndedRegion>& regions,
                                                        const EndedBounds& bounds);

}  // namespace leakgate
