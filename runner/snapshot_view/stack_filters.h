// Which stacks are asked for: --filter. Each stack is looked at once.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "runner/attribution/stack_pattern.h"
#include "runner/snapshot_view/stack_frames.h"

namespace leakgate {

class StackFilters {
 public:
  // `frames` outlives it.
  StackFilters(const std::vector<std::string>& patterns, StackFrames& frames) {
    for (const std::string& pattern : patterns) {
      filters_.emplace_back(frames, [&frames, pattern](FrameId frame) {
        return MatchesStack({pattern}, {frames.Get(frame)}) ? 1U : InnermostAnswer::kNone;
      });
    }
  }

  // True if each pattern matches a frame of the stack.
  [[nodiscard]] bool Match(std::uint32_t stack) {
    return std::all_of(filters_.begin(), filters_.end(), [&](InnermostAnswer& filter) {
      return filter.Of(stack) != InnermostAnswer::kNone;
    });
  }

 private:
  std::vector<InnermostAnswer> filters_;
};

}  // namespace leakgate
