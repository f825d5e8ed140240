// The outer end of a call stack: what called the user's code. A test's stack
// ends in ten frames of GoogleTest, main and the C library's start, the same
// for every test; reports say so in one line. Pure.
#pragma once

#include <cstddef>
#include <string>

#include "runner/attribution/finding.h"

namespace leakgate {

struct OuterFrames {
  std::size_t begin = 0;    // the index of the first of them; the stack's size if there are none
  std::string description;  // "GoogleTest and main", "the C library", ...
};

// The frames at the outer end that are no code of the user's. Never reaches
// the user's own frame; of a stack without one the innermost frame is kept.
[[nodiscard]] OuterFrames FindOuterFrames(const Finding& finding);

// Whether a frame is no code of the user's, and may be left out at the outer end.
[[nodiscard]] bool IsOuterFrame(const Frame& frame);

}  // namespace leakgate
