// Decides whether the process is looked at as a test ends, or only later. A look takes as long as
// the live heap is large: beside a million blocks, 0.1 s. So where the heap is large, looks take at
// most half a second and a tenth of the process's time together, and what a test left behind is
// looked at as the iteration ends, with what other tests left.
//
// Nothing is missed by that: a block that is lost stays lost. Only its failure is reported later.
// Of a small heap, each test is looked at as it ends, however slow the machine is.
//
// Used by one thread.
#pragma once

#include <chrono>

#include "common/region_layout.h"

namespace leakgate {

class LookPace {
 public:
  using Clock = std::chrono::steady_clock;

  // `totals` are the process's, now.
  [[nodiscard]] bool MayLook(const Totals& totals, Clock::time_point now) const {
    const bool is_large = totals.allocated_blocks - totals.freed_blocks >= kManyBlocks ||
                          totals.allocated_bytes - totals.freed_bytes >= kManyBytes;
    if (!is_large || last_ == Clock::duration{}) return true;
    return spent_ + last_ <= kAlways + (now - first_at_) / 10;
  }

  void NoteLook(Clock::time_point begin, Clock::time_point end) {
    if (last_ == Clock::duration{}) first_at_ = begin;
    last_ = end - begin;
    spent_ += last_;
  }

 private:
  static constexpr std::uint64_t kManyBlocks = 200'000;
  static constexpr std::uint64_t kManyBytes = 256ULL << 20;
  static constexpr std::chrono::milliseconds kAlways{500};

  Clock::time_point first_at_;
  Clock::duration last_{};
  Clock::duration spent_{};
};

}  // namespace leakgate
