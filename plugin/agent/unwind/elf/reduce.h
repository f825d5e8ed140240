// Reduces a row of DWARF's call frame table to an unwind rule.
#pragma once

#include <cstdint>

#include "plugin/agent/unwind/elf/frame_row.h"
#include "plugin/agent/unwind/unwind_rule.h"

namespace leakgate::agent {

// Returns whether a signal handler returns to the code at `lookup_pc`, which has no frame
// description.
[[nodiscard]] bool IsSignalReturn(std::uint64_t lookup_pc);

// Reduces `row`. The rule is kFull if that cannot be done.
[[nodiscard]] UnwindRule Reduce(const FrameRow& row);

}  // namespace leakgate::agent
