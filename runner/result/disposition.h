// What becomes of an outstanding block, and so of a finding.
#pragma once

#include <cstdint>

namespace leakgate {

// Whether anything in the program still leads to a block.
enum class Reach : std::uint8_t { kUnknown, kLost, kIndirectlyLost, kRetained };

// How a finding is counted. "Counts" means that it counts against the limits.
enum class Disposition {
  kOutstanding,    // It counts.
  kFramework,      // It does not count: the framework's own code allocated it (framework_rule).
  kAllowed,        // It does not count: an allowance covers it.
  kOtherThread,    // It does not count: its thread is older than the window, and the budget file
                   // limits only the test's own threads ("test").
  kReplaced,       // It does not count: the window freed as much of the same call stack.
  kReleasedLater,  // It does not count: it was freed before the iteration ended, or before the
                   // moment that the budget file names.
  kOneTime,        // It does not count: the test, repeated alone, left it the first time only.
  kBounded,        // It does not count: the test, repeated alone, stopped leaving more of it.
  kSteady,         // It counts: the test, repeated alone, left more and more of it.
  kUnconfirmed,    // It is retained, and no repetition could show whether it grows.
  kKnown,          // It does not count: the baseline has as many blocks of it.
};

// Whether the baseline of `leakgate run --baseline` has a finding.
enum class BaselineState { kNoBaseline, kKnown, kNew };

}  // namespace leakgate
