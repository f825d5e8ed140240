#include "runner/etw/trace_stacks.h"

#include <algorithm>

namespace leakgate {
namespace {

std::uint64_t HashFrames(std::span<const std::uint64_t> frames) {
  std::uint64_t hash = frames.size();
  for (const std::uint64_t frame : frames) {
    hash = (hash ^ frame) * 0x9e3779b97f4a7c15U;
    hash ^= hash >> 29U;
  }
  return hash;
}

}  // namespace

std::optional<std::uint32_t> TraceStacks::Keep(std::span<const std::uint64_t> frames) {
  std::uint64_t key = HashFrames(frames);
  for (auto found = known_.find(key); found != known_.end(); found = known_.find(++key)) {
    if (std::ranges::equal(Frames(found->second), frames)) return found->second;
  }
  // Each stack takes about as much as four frames besides its own.
  if (frames.size() + frames_.size() + 4 * begins_.size() > most_frames_) return std::nullopt;
  const auto stack = static_cast<std::uint32_t>(begins_.size() - 1);
  frames_.insert(frames_.end(), frames.begin(), frames.end());
  begins_.push_back(frames_.size());
  known_.emplace(key, stack);
  return stack;
}

std::span<const std::uint64_t> TraceStacks::Frames(std::uint32_t stack) const {
  return std::span(frames_).subspan(begins_[stack], begins_[stack + 1] - begins_[stack]);
}

}  // namespace leakgate
