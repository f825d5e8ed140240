#include "runner/attribution/user_code.h"

#include <algorithm>

#include "runner/attribution/frame_origin.h"

namespace leakgate {

bool IsUserFrame(const Frame& frame) { return OriginOf(frame) == FrameOrigin::kUser; }

std::optional<std::size_t> FindUserFrame(const std::vector<Frame>& stack) {
  const auto found = std::find_if(stack.begin(), stack.end(), IsUserFrame);
  if (found == stack.end()) return std::nullopt;
  return static_cast<std::size_t>(found - stack.begin());
}

}  // namespace leakgate
