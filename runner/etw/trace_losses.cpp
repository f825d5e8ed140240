#include "runner/etw/trace_losses.h"

#include <fmt/format.h>

namespace leakgate {

std::string DescribeReasons(std::span<const LossReason> reasons) {
  std::string line;
  for (const LossReason& reason : reasons) {
    if (reason.count == 0) continue;
    if (!line.empty()) line += ", ";
    line += fmt::format("{} {}{} {}", reason.count, reason.noun, reason.count == 1 ? "" : "s",
                        reason.text);
  }
  return line;
}

std::string DescribeLosses(const TraceLosses& losses) {
  const LossReason reasons[] = {
      {losses.lost_events, "event", "lost"},
      {losses.lost_buffers, "buffer", "lost"},
      {losses.cut_events, "event", "cut short"},
      {losses.unknown_events, "event", "of an unknown kind"},
      {losses.late_events, "event", "out of order"},
      {losses.unjoined_stacks, "stack", "of no known allocation"},
      {losses.unkept_stacks, "stack", "too many to keep"},
      {losses.blocks_without_stack, "live block", "without a stack"},
      {losses.repeated_blocks, "block", "allocated where one was live"},
      {losses.unknown_blocks, "block", "freed or resized, but never seen allocated"}};
  return DescribeReasons(reasons);
}

}  // namespace leakgate
