// A thread's last walked stack, outermost frame first, with the words that its walk read, which can
// prove that the stack is still the same. Mostly the outer frames of the next stack are: they are
// kept as they are, with their nodes.
//
//   index   pc                 sp        slots (address = value)      node
//   0       _start+0x21        7ffd..f0                               17
//   1       main+0x40          7ffd..c0  [7ffd..e8] = _start+0x21     18
//   2       Run()+0x1b         7ffd..90  [7ffd..b8] = main+0x40       19
//
// A frame's slots are what was read to step out of it: its return address, and
// the saved fp where a frame further out depends on fp.
#pragma once

#include <cstdint>

#include "common/region_layout.h"

namespace leakgate::agent {

struct TrailFrame {
  std::uint64_t pc;  // as StackNode::pc
  std::uint64_t sp;  // when the frame is the current one
  std::uint64_t fp;
  std::uint32_t module;    // as StackNode::module
  std::uint32_t node;      // in the stack table
  std::uint16_t slot_end;  // the frame's slots end here; they begin at the outer neighbour's end
  bool depends_on_fp;      // stepping out from here, at some frame, takes fp
};

// A word of the stack that a walk read.
struct StackSlot {
  std::uint64_t address;
  std::uint64_t value;
};

struct StackTrail {
  static constexpr std::uint32_t kMaxSlots = 3 * kMaxStackDepth;

  TrailFrame frames[kMaxStackDepth];
  StackSlot slots[kMaxSlots];
  std::uint32_t depth = 0;
  UnwindEnd end = UnwindEnd::kOutermost;
  // False if a step needed more than sp, fp and the slots.
  bool is_provable = false;

  std::uint32_t slot_count() const { return depth == 0 ? 0 : frames[depth - 1].slot_end; }
  const TrailFrame& innermost() const { return frames[depth - 1]; }
};

// Finds where a walk meets the thread's last stack: the first frame with the
// same pc, sp and fp from which outwards every word that the last walk read
// still holds. From there on the two stacks are the same.
class TrailJoin {
 public:
  explicit TrailJoin(const StackTrail& trail)
      : trail_(trail),
        next_(trail.is_provable && trail.end != UnwindEnd::kDepthLimit
                  ? static_cast<std::int32_t>(trail.depth) - 1
                  : kNone) {}

  // Returns the number of outer frames that are the same, including the one at `pc`, `sp`, `fp`; 0
  // if the walk has not met the trail. Must be called for each frame in turn.
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
    const std::uint32_t end = trail_.frames[next_].slot_end;
    std::uint32_t slot = 0;
    while (end - slot >= 4 && AllHold(&trail_.slots[slot])) slot += 4;
    while (slot != end && Holds(trail_.slots[slot])) ++slot;
    last_valid_ = next_;
    while (last_valid_ >= 0 && trail_.frames[last_valid_].slot_end > slot) --last_valid_;
  }

  static bool Holds(const StackSlot& slot) { return Difference(slot) == 0; }

  // Returns whether four slots do, without a branch for each.
  static bool AllHold(const StackSlot* slots) {
    return (Difference(slots[0]) | Difference(slots[1]) | Difference(slots[2]) |
            Difference(slots[3])) == 0;
  }
  static std::uint64_t Difference(const StackSlot& slot) {
    return *reinterpret_cast<const volatile std::uint64_t*>(slot.address) ^ slot.value;
  }

  const StackTrail& trail_;
  std::int32_t next_;
  std::int32_t last_valid_ = kNone;
  bool is_verified_ = false;
};

}  // namespace leakgate::agent
