// Stacks of a heap trace, each kept once. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace leakgate {

class TraceStacks {
 public:
  // 64 MiB: what a program may make the runner keep.
  static constexpr std::size_t kMostFrames = std::size_t{8} << 20;

  explicit TraceStacks(std::size_t most_frames = kMostFrames) : most_frames_(most_frames) {}

  // Returns the stack's number, the same for the same frames; nothing if there is no more room.
  std::optional<std::uint32_t> Keep(std::span<const std::uint64_t> frames);

  // Innermost first. REQUIRES: Keep returned `stack`. Valid until the next Keep.
  std::span<const std::uint64_t> Frames(std::uint32_t stack) const;

 private:
  std::size_t most_frames_;
  std::vector<std::uint64_t> frames_;
  std::vector<std::size_t> begins_ = {0};                   // of each stack, and the end
  std::unordered_map<std::uint64_t, std::uint32_t> known_;  // by hash; the next key on a clash
};

}  // namespace leakgate
