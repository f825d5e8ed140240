// Which frames of a call stack are the user's own code, and which belong to
// the C and C++ runtime, to GoogleTest or to leakgate's agent.
//
// It decides which frame a report shows first and which component is charged.
// Pure; when in doubt a frame is the user's.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "runner/symbols/frame.h"

namespace leakgate {

[[nodiscard]] bool IsUserFrame(const Frame& frame);

// The index of the innermost frame of `stack` that is the user's own.
[[nodiscard]] std::optional<std::size_t> FindUserFrame(const std::vector<Frame>& stack);

}  // namespace leakgate
