// Where this thread's own stack is. Once a part of it has been readable, it stays readable as long
// as the thread lives. Other stacks (of signals, of coroutines) may be unmapped at any time, so an
// earlier walk's reads of them prove nothing.
//
// The C library is not called, because it takes a lock, and may have been interrupted while it held
// that.
#pragma once

#include <cstdint>

namespace leakgate::agent {

class OwnStack {
 public:
  OwnStack() = default;

  // Returns the stack of the calling thread.
  static OwnStack OfThisThread();

  // Makes no calls. Of a large stack, only the outer pages may be known yet.
  bool SurelyContains(std::uint64_t address) const { return address - begin_ < end_ - begin_; }

  bool Contains(std::uint64_t address) {
    return address - begin_ < end_ - begin_ || (!is_exact_ && ContainsExactly(address));
  }

  // True if both are of the same place, and either knows as much of it as the other.
  friend bool operator==(const OwnStack&, const OwnStack&) = default;

 private:
  // Finds out the exact bounds, once.
  bool ContainsExactly(std::uint64_t address);

  std::uint64_t begin_ = 0;
  std::uint64_t end_ = 0;
  bool is_exact_ = true;
};

}  // namespace leakgate::agent
