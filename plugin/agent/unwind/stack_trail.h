// A thread's last walked stack, outermost frame first, with what its walk read:
// the proof that it is still so. The outer frames of the next stack are mostly
// the same: they are taken over as they are, with their nodes.
//
//   index   pc                 sp        slots (address = value)      node
//   0       _start+0x21        7ffd..f0                               17
//   1       main+0x40          7ffd..c0  [7ffd..e8] = _start+0x21     18
//   2       Run()+0x1b         7ffd..90  [7ffd..b8] = main+0x40       19
//
// A frame's slots are what was read to step out of it: its return address, and
// the saved rbp where a frame further out depends on rbp.
#pragma once

#include <cstdint>

#include "common/region_layout.h"

namespace leakgate::agent {

struct TrailFrame {
  std::uint64_t pc;  // as StackNode::pc
  std::uint64_t sp;  // when the frame is the one at hand
  std::uint64_t fp;
  std::uint32_t module;    // as StackNode::module
  std::uint32_t node;      // in the stack table
  std::uint16_t slot_end;  // the frame's slots end here; they begin at the outer neighbour's end
  bool depends_on_fp;      // stepping out from here, at some frame, takes rbp
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
  // False where a step took more than rsp, rbp and the slots can tell.
  bool is_provable = false;

  std::uint32_t slot_count() const { return depth == 0 ? 0 : frames[depth - 1].slot_end; }
  const TrailFrame& innermost() const { return frames[depth - 1]; }
};

}  // namespace leakgate::agent
