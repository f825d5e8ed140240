// Reads a thread's stack without ever faulting. A harmless system call checks once whether a page
// can be read (linux/syscall.h, IsReadable), and the result is remembered as a range. A thread has
// few stacks (its own, a signal stack, coroutines), so there are few ranges.
//
// Only its own thread uses it.
#pragma once

#include <cstdint>

#include "common/system.h"
#include "plugin/agent/arch/processor.h"

#include LEAKGATE_ARCH(memory)
#include LEAKGATE_AGENT(syscall)

namespace leakgate::agent {

class StackMemory {
 public:
  // Returns false if the word at `address` cannot be read.
  [[nodiscard]] bool Read(std::uint64_t address, std::uint64_t& word) {
    if (address - recent_.begin > recent_bytes_ && !Verify(address)) return false;
    word = *reinterpret_cast<const volatile std::uint64_t*>(address);
    return true;
  }

 private:
  static constexpr std::uint32_t kRangeCount = 4;

  struct Range {
    std::uint64_t begin = 1;  // whole pages; empty: begin > end
    std::uint64_t end = 0;
  };

  bool Verify(std::uint64_t address);
  bool Select(std::uint32_t index);
  void Remember(const Range& page);

  Range recent_;
  std::uint64_t recent_bytes_ = 0;  // readable distance from recent_.begin: size less one word
  Range ranges_[kRangeCount];
  std::uint32_t oldest_ = 0;
};

}  // namespace leakgate::agent
