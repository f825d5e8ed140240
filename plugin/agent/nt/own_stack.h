// Where this thread's own stack is. What could be read there once can be read as long as the thread
// lives.
//
// A fiber's stack may be freed at any time, so a thread that runs as a fiber has none of its own:
// earlier walks prove nothing there.
#pragma once

#include <cstdint>

namespace leakgate::agent {

class OwnStack {
 public:
  OwnStack() = default;

  // Returns the stack of the calling thread.
  static OwnStack OfThisThread();

  bool SurelyContains(std::uint64_t address) const { return address - begin_ < end_ - begin_; }
  bool Contains(std::uint64_t address) const { return SurelyContains(address); }

  friend bool operator==(const OwnStack&, const OwnStack&) = default;

 private:
  std::uint64_t begin_ = 0;
  std::uint64_t end_ = 0;
};

}  // namespace leakgate::agent
