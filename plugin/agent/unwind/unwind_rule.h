// An unwind rule: how to get from a frame at one pc to its caller, reduced to
// what rsp and rbp alone can tell. Nearly every frame has such a rule; the few
// that need another register or a real expression say kFull and are stepped by
// the frame row (frame_row.h).
#pragma once

#include <cstdint>

#include "plugin/agent/unwind/frame_row.h"

namespace leakgate::agent {

struct UnwindRule {
  enum class Kind : std::uint8_t {
    kCompact,    // the members below say it all
    kFull,       // needs the frame row and more registers
    kOutermost,  // there is no caller
    kNoInfo,     // no frame description covers the pc
    kBadInfo,    // one does, but cannot be understood
  };
  enum class Cfa : std::uint8_t {
    kSpPlus,  // cfa = rsp + cfa_offset
    kFpPlus,  // cfa = rbp + cfa_offset
    kAtSp,    // cfa = *(rsp + cfa_offset)   signal trampolines
    kAtFp,    // cfa = *(rbp + cfa_offset)   functions that realign the stack
  };
  enum class Slot : std::uint8_t {
    kSame,   // rbp = rbp
    kAtCfa,  // *(cfa + offset)
    kAtSp,   // *(rsp + offset)
    kAtFp,   // *(rbp + offset)
  };

  Kind kind = Kind::kNoInfo;
  Cfa cfa = Cfa::kSpPlus;
  Slot fp = Slot::kSame;
  Slot return_address = Slot::kAtCfa;
  bool is_signal_frame = false;  // the caller was interrupted: its pc is exact
  std::int32_t cfa_offset = 0;
  std::int32_t fp_offset = 0;
  std::int32_t return_address_offset = -8;
};

// Reduces `row`; kFull where it cannot be done.
[[nodiscard]] UnwindRule Reduce(const FrameRow& row);

// The rule for `pc` in the module that `section` belongs to.
[[nodiscard]] UnwindRule FindRule(const FrameSection& section, std::uint64_t pc);

}  // namespace leakgate::agent
