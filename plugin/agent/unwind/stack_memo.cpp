#include "plugin/agent/unwind/stack_memo.h"

#include <utility>

namespace leakgate::agent {

std::optional<std::uint32_t> StackMemo::Find(const CallerFrame& caller) {
  Set& set = SetOf(caller);
  for (Entry& entry : set.ways) {
    if (!IsAt(entry, caller) || !HoldsInnermost(entry) || !Holds(entry)) continue;
    std::swap(set.ways[0], entry);
    return set.ways[0].stack;
  }
  return std::nullopt;
}

void StackMemo::Remember(const CallerFrame& caller, const StackTrail& trail, std::uint32_t id) {
  const std::uint32_t end = trail.slot_count();
  const std::uint32_t outermost = FirstSlotToProve(trail);
  if (!trail.is_provable || outermost == end) return;
  const std::uint32_t slots = end - outermost;
  const std::uint32_t size = (slots + 2 * kStride - 1) / (2 * kStride) * kStride;
  if (arena_used_ + size > kArenaSize) Forget();

  // The innermost comes first, because changes are mostly there. The outermost words fill the last
  // stride.
  Words* const begin = &arena_[arena_used_];
  arena_used_ += size;
  for (std::uint32_t i = 0; i < 2 * size; ++i) {
    const StackSlot& slot = trail.slots[i < slots ? end - 1 - i : outermost];
    begin[i / 2].values[i % 2] = slot.value;
    begin[i / 2].addresses[i % 2] = reinterpret_cast<const std::uint64_t*>(slot.address);
  }
  Entry* const ways = SetOf(caller).ways;
  for (std::uint32_t way = kWays - 1; way > 0; --way) ways[way] = ways[way - 1];
  ways[0] = {.pc = caller.pc,
             .sp = caller.sp,
             .words = {begin, begin + size},
             .fp = caller.fp,
             .stack = id,
             .depends_on_fp = trail.innermost().depends_on_fp,
             .reserved = {}};
}

// Slots further out belong to the first frame and to its callers. Trails begin with the outermost
// frame, so the first frame is near their begin, if it is there.
std::uint32_t StackMemo::FirstSlotToProve(const StackTrail& trail) const {
  if (first_.pc == 0 || trail.end != UnwindEnd::kOutermost) return 0;
  std::uint32_t index = 0;
  while (index < trail.depth && trail.frames[index].sp > first_.sp) ++index;
  if (index == trail.depth || index > first_.most_outward) return 0;
  const TrailFrame& frame = trail.frames[index];
  return frame.sp == first_.sp && frame.pc == first_.pc ? frame.slot_end : 0;
}

void StackMemo::Forget() {
  if (arena_used_ == 0) return;
  arena_used_ = 0;
  for (Set& set : sets_) set = {};
}

}  // namespace leakgate::agent
