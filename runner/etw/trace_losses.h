// What a heap trace lacks, by reason. With any of it, a verdict would be a guess.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace leakgate {

struct TraceLosses {
  std::uint64_t lost_events = 0;   // the system had no buffer for them
  std::uint64_t lost_buffers = 0;  // the consumer was too slow for them
  std::uint64_t cut_events = 0;
  std::uint64_t unknown_events = 0;
  std::uint64_t late_events = 0;           // came after events that are much newer
  std::uint64_t unjoined_stacks = 0;       // of no allocation that was seen
  std::uint64_t unkept_stacks = 0;         // there was no room for them
  std::uint64_t blocks_without_stack = 0;  // of those that are live at the end
  std::uint64_t repeated_blocks = 0;       // allocated where a live block was
  std::uint64_t unknown_blocks = 0;        // freed or resized, and never allocated

  bool operator==(const TraceLosses&) const = default;
};

// Something that lacks: how many of it, what it is in the singular, and what became of it.
struct LossReason {
  std::uint64_t count;
  std::string_view noun;
  std::string_view text;
};
// Returns "5 events lost, 1 event cut short"; "" if all counts are 0.
[[nodiscard]] std::string DescribeReasons(std::span<const LossReason> reasons);

// Returns one line, "5 events lost, 1 event cut short", or "" if nothing lacks.
[[nodiscard]] std::string DescribeLosses(const TraceLosses& losses);

}  // namespace leakgate
