// Words of the stack with the values that they had. The processor's folder defines StillHold, which
// compares them with what is there.
#pragma once

#include <cstdint>

#include "plugin/agent/arch/processor.h"

namespace leakgate::agent {

// Two words of the stack.
struct alignas(16) StackWords {
  std::uint64_t values[2];
  const std::uint64_t* addresses[2];
};

// As many StackWords are compared in one round.
inline constexpr std::uint32_t kWordsStride = 2;

// Their number is a multiple of kWordsStride, and not 0.
struct StackWordsRange {
  const StackWords* begin;
  const StackWords* end;
};

}  // namespace leakgate::agent

#include LEAKGATE_ARCH(stack_words)
