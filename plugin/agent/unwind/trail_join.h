// Finds where a walk meets the thread's last stack: the first frame with the
// same pc, rsp and rbp from which outwards every word that the last walk read
// still holds. From there on the two stacks are the same.
#pragma once

#include <cstdint>

#include "plugin/agent/unwind/stack_trail.h"

namespace leakgate::agent {

class TrailJoin {
 public:
  explicit TrailJoin(const StackTrail& trail)
      : trail_(trail),
        next_(trail.is_provable && trail.end != UnwindEnd::kDepthLimit
                  ? static_cast<std::int32_t>(trail.depth) - 1
                  : kNone) {}

  // The number of outer frames that are the same, the one at `pc`, `sp`, `fp`
  // included; 0 if the walk has not met the trail. Ask for each frame in turn.
  std::uint32_t Meet(std::uint64_t pc, std::uint64_t sp, std::uint64_t fp) {
    while (next_ >= 0 && trail_.frames[next_].sp < sp) --next_;
    if (next_ < 0 || trail_.frames[next_].sp != sp) return 0;
    const TrailFrame& frame = trail_.frames[next_];
    if (frame.pc != pc || (frame.depends_on_fp && frame.fp != fp)) return 0;
    if (!is_verified_) Verify();
    return next_ <= last_valid_ ? static_cast<std::uint32_t>(next_) + 1 : 0;
  }

 private:
  static constexpr std::int32_t kNone = -1;

  // From the outermost frame inwards, as far as all slots hold. They lie above
  // `sp`, on the stack that is being walked, so they can be read.
  void Verify() {
    is_verified_ = true;
    std::uint32_t slot = 0;
    for (std::int32_t i = 0; i <= next_; ++i) {
      for (; slot < trail_.frames[i].slot_end; ++slot) {
        const StackSlot& read = trail_.slots[slot];
        if (*reinterpret_cast<const volatile std::uint64_t*>(read.address) != read.value) return;
      }
      last_valid_ = i;
    }
  }

  const StackTrail& trail_;
  std::int32_t next_;
  std::int32_t last_valid_ = kNone;
  bool is_verified_ = false;
};

}  // namespace leakgate::agent
