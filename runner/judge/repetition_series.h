// Decides from a test's repetitions whether one call site grows. Pure.
//
// The series is the net number of blocks that each repetition but the first
// added. Blocks, not bytes: a growing vector's buffers go up and down in bytes
// while something leaks steadily beside them. The first repetition builds what
// is built once, and so does not count.
#pragma once

#include <cstdint>
#include <vector>

namespace leakgate {

enum class Growth {
  kNone,       // one-time initialisation: 0 0 0 0 0
  kBounded,    // it stops: 1 1 0 0 0
  kSteady,     // each time: 1 1 1 1 1
  kIrregular,  // not each time, and not at an end: 0 1 0 1 0; more repetitions tell
};

// Classifies a short series. An empty one is irregular.
[[nodiscard]] Growth ClassifyGrowth(const std::vector<std::int64_t>& series);

// Classifies a long series, which follows an irregular short one. It is steady if both halves grew.
[[nodiscard]] Growth ClassifyLongGrowth(const std::vector<std::int64_t>& series);

}  // namespace leakgate
