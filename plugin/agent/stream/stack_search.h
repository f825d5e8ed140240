// Finds what GoogleTest's functions hold when one of them calls the agent: pointers on the stack.
#pragma once

#include <cstdint>

namespace leakgate::agent {

// The relevant frames of GoogleTest, and the agent's own frames below them, are not larger than
// this.
inline constexpr std::uint64_t kSearchedStackBytes = 2048;

// Returns whether the word at `address` is on this thread's own stack. Only a thread's first call
// makes system calls.
[[nodiscard]] bool IsOnOwnStack(std::uint64_t address);

// Calls `visit` with each word of this thread's stack, from this function's frame outwards, and
// with the registers that calls preserve. Not inline, so that its frame lies below its caller's.
template <typename Visit>
__attribute__((noinline)) void VisitStackWords(const Visit& visit) {
  __builtin_unwind_init();  // also puts the registers that calls preserve on the stack
  std::uint64_t word = 0;
  const std::uint64_t begin = reinterpret_cast<std::uint64_t>(&word);
  const std::uint64_t end = begin + kSearchedStackBytes;
  const bool is_all_own = IsOnOwnStack(end - sizeof(word));
  for (std::uint64_t at = begin; at < end && (is_all_own || IsOnOwnStack(at)); at += sizeof(word)) {
    word = *reinterpret_cast<const volatile std::uint64_t*>(at);
    visit(word);
  }
}

}  // namespace leakgate::agent
