// A second opinion on every stack that is told, proved or walked.
//
// Only the agent that tests/stack_check builds has it. In the one that users
// get, kChecksStacks is false and no call is compiled.
#pragma once

#include <cstdint>

#include "plugin/agent/arch/caller_frame.h"

namespace leakgate::agent {

inline constexpr bool kChecksStacks = LEAKGATE_CHECKS_STACKS;

// `stack` was told for the frame at `caller`, which is still on this thread's stack.
// The thread is recording.
void CheckStack(const CallerFrame& caller, std::uint32_t stack);

}  // namespace leakgate::agent
