// Where this thread's own stack is. What is proved of it once stays readable as
// long as the thread lives; other stacks (of signals, of coroutines) may be
// unmapped at any time, and are never read by memory of an earlier walk.
#pragma once

#include <cstdint>

namespace leakgate::agent {

struct StackBounds {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  bool Contains(std::uint64_t address) const { return address - begin < end - begin; }
};

// Empty if it cannot be told. The C library may allocate meanwhile.
StackBounds OwnStack();

}  // namespace leakgate::agent
