// One step of the slow, general method of leaving a frame, by the frame row and with every register
// that is known. It is for frames whose rule is kFull.
#pragma once

#include "common/unwind_end.h"
#include "plugin/agent/arch/registers.h"
#include "plugin/agent/unwind/elf/frame_description.h"
#include "plugin/agent/unwind/stack_memory.h"

namespace leakgate::agent {

struct StepResult {
  enum class Kind : std::uint8_t { kStepped, kEnded };
  Kind kind = Kind::kEnded;
  UnwindEnd end = UnwindEnd::kOutermost;
  bool was_signal_frame = false;
};

// Replaces `registers`, which have the frame's pc in kProgramCounter, by the caller's. `lookup_pc`
// is the pc by which the row is found.
[[nodiscard]] StepResult StepFrame(const FrameSection& section, std::uint64_t lookup_pc,
                                   RegisterFile& registers, StackMemory& memory);

}  // namespace leakgate::agent
