// Why a call stack ends where it does. Every recorded stack carries one.
#pragma once

#include <cstdint>

namespace leakgate {

enum class UnwindEnd : std::uint32_t {
  kOutermost = 0,        // the frame description says that there is no caller
  kDepthLimit = 1,       // the stack was cut at the depth limit
  kNoUnwindInfo = 2,     // a frame has no .eh_frame
  kBadUnwindInfo = 3,    // .eh_frame contains something that the unwinder does not know
  kUnreadableStack = 4,  // a stack slot could not be read
  kNotAStack = 5,        // the stack pointer did not move towards the caller
  kTableFull = 6,        // no room was left in the stack table
  kNotTaken = 7,         // stacks of this event were not asked for (common/stack_event.h)
};

inline constexpr std::uint32_t kUnwindEndCount = 8;

}  // namespace leakgate
