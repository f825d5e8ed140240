#include "plugin/agent/unwind/stack_memo.h"

#include <utility>

namespace leakgate::agent {

std::optional<std::uint32_t> StackMemo::Find(const CallerFrame& caller) {
  Set& set = SetOf(caller);
  for (Entry& entry : set.ways) {
    if (!IsAt(entry, caller) || !Holds(entry)) continue;
    std::swap(set.ways[0], entry);
    return set.ways[0].stack;
  }
  return std::nullopt;
}

void StackMemo::Remember(const CallerFrame& caller, const StackTrail& trail, std::uint32_t id) {
  const std::uint32_t slots = trail.slot_count();
  if (!trail.is_provable || slots == 0) return;
  const std::uint32_t size = (slots + 2 * kStride - 1) / (2 * kStride) * kStride;
  if (arena_used_ + size > kArenaSize) Forget();

  // Innermost first: what has changed is mostly there. The outermost fills up.
  Words* const begin = &arena_[arena_used_];
  arena_used_ += size;
  for (std::uint32_t i = 0; i < 2 * size; ++i) {
    const StackSlot& slot = trail.slots[i < slots ? slots - 1 - i : 0];
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

void StackMemo::Forget() {
  arena_used_ = 0;
  for (Set& set : sets_) set = {};
}

}  // namespace leakgate::agent
