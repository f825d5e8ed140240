// A second opinion on every stack that the agent records, whether it was proved or walked.
//
// Only the agent that tests/stack_check builds has it. In the released agent, kChecksStacks is
// false and no call is compiled.
#pragma once

#include <cstdint>

#include "plugin/agent/arch/caller_frame.h"

namespace leakgate::agent {

inline constexpr bool kChecksStacks = LEAKGATE_CHECKS_STACKS;

// Checks `stack`, which was recorded for the frame at `caller`. The frame is still on this thread's
// stack, and the thread is recording.
void CheckStack(const CallerFrame& caller, std::uint32_t stack);

}  // namespace leakgate::agent
