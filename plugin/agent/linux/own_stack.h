// Where this thread's own stack is. What could be read of it once can be read as long as the thread
// lives. Other stacks (of signals, of coroutines) may be unmapped at any time, so what an earlier
// walk has read of them proves nothing.
//
// The C library is not asked: it takes a lock, and may have been interrupted while it held that.
#pragma once

#include <cstdint>

namespace leakgate::agent {

class OwnStack {
 public:
  OwnStack() = default;

  // Returns the stack of the calling thread.
  static OwnStack OfThisThread();

  // Asks nobody. Of a large stack, only the outer pages may be known yet.
  bool SurelyContains(std::uint64_t address) const { return address - begin_ < end_ - begin_; }

  bool Contains(std::uint64_t address) {
    return address - begin_ < end_ - begin_ || (!is_exact_ && ContainsExactly(address));
  }

 private:
  // Learns the exact bounds, once.
  bool ContainsExactly(std::uint64_t address);

  std::uint64_t begin_ = 0;
  std::uint64_t end_ = 0;
  bool is_exact_ = true;
};

}  // namespace leakgate::agent
