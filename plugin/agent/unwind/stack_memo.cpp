#include "plugin/agent/unwind/stack_memo.h"

#include <utility>

namespace leakgate::agent {

std::uint32_t StackMemo::Find(const CallerFrame& caller, std::uint32_t module_epoch) {
  if (module_epoch != module_epoch_) return 0;
  Entry* const set = &entries_[SetIndex(caller) * kWays];
  for (std::uint32_t way = 0; way < kWays; ++way) {
    if (!IsAt(set[way], caller) || !Holds(set[way])) continue;
    std::swap(set[0], set[way]);
    return set[0].stack;
  }
  return 0;
}

void StackMemo::Remember(const CallerFrame& caller, std::uint32_t module_epoch,
                         const StackTrail& trail, std::uint32_t id) {
  const std::uint32_t slots = trail.slot_count();
  if (!trail.is_provable || slots == 0) return;
  const std::uint32_t words = (slots + kStride - 1) / kStride * kStride;
  if (module_epoch != module_epoch_ || arena_used_ + words > kArenaWords) Forget();
  module_epoch_ = module_epoch;

  // Innermost first: what has changed is mostly there. The outermost fills up.
  Word* const begin = &arena_[arena_used_];
  arena_used_ += words;
  for (std::uint32_t i = 0; i < words; ++i) {
    const StackSlot& slot = trail.slots[i < slots ? slots - 1 - i : 0];
    begin[i] = {slot.value, reinterpret_cast<const volatile std::uint64_t*>(slot.address)};
  }
  Entry* const set = &entries_[SetIndex(caller) * kWays];
  for (std::uint32_t way = kWays - 1; way > 0; --way) set[way] = set[way - 1];
  set[0] = {.pc = caller.pc,
            .sp = caller.sp,
            .fp = caller.fp,
            .begin = begin,
            .end = begin + words,
            .stack = id,
            .depends_on_fp = trail.innermost().depends_on_fp,
            .reserved = {}};
}

void StackMemo::Forget() {
  arena_used_ = 0;
  for (Entry& entry : entries_) entry = {};
}

}  // namespace leakgate::agent
