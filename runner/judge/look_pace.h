// Decides whether the process is looked at as a test ends, or only later. A look takes as long as
// the live heap is large: beside a million blocks, 0.1 s. So looks take at most a quarter of a
// second and a tenth of the process's time together, and what a test left behind is looked at as
// the iteration ends, with what other tests left.
//
// Of a look's time, only that part counts which is due to the heap. Some of it any look takes, as
// much as 50,000 blocks do:
//
//   live blocks                 1,000   5,000   50,000   200,000   5,000,000
//   what counts of a look's time   2%      9%      50%       80%         99%
//
// So beside fewer than 5,000 blocks, each test is looked at as it ends, however slow the machine
// is: less than a tenth of the looks' own time counts. A KiB counts as a block does. That is so of
// the first 256 looks; of a suite in which more tests lose something, the whole time counts. Where
// no listener waits to fail the test, so that nobody sees the verdict before the process's end, it
// is so of the first 32 looks, and later ones take 50 ms and a tenth of the process's time.
//
// Nothing is missed by that: a block that is lost stays lost. Only its failure is reported later.
//
// Used by one thread.
#pragma once

#include <algorithm>
#include <chrono>

#include "common/region_layout.h"

namespace leakgate {

class LookPace {
 public:
  using Clock = std::chrono::steady_clock;

  // Whether no listener waits for verdicts. One does unless this is called.
  void SetForReport(bool is_for_report) { is_for_report_ = is_for_report; }

  // `totals` are the process's, now.
  [[nodiscard]] bool MayLook(const Totals& totals, Clock::time_point now) const {
    const Clock::duration run =
        first_at_ == Clock::time_point{} ? Clock::duration{} : now - first_at_;
    const Clock::duration expected = std::max(last_, kLeastPerBlock * BlocksIn(totals));
    const Clock::duration always =
        is_for_report_ && looks_ >= MostUncounted() ? kAlwaysForReport : kAlways;
    return spent_ + Counted(totals, expected) <= always + run / 10;
  }

  // Whether a look takes most of its time for the heap.
  [[nodiscard]] static bool IsLarge(const Totals& totals) {
    return BlocksIn(totals) > kBlocksOfALook;
  }

  // `totals` are the process's, at about that time.
  void NoteLook(const Totals& totals, Clock::time_point begin, Clock::time_point end) {
    if (first_at_ == Clock::time_point{}) first_at_ = begin;
    last_ = end - begin;
    spent_ += Counted(totals, last_);
    ++looks_;
  }

 private:
  // So many looks take hardly any time beside a small heap, and so none counts.
  [[nodiscard]] int MostUncounted() const { return is_for_report_ ? 32 : 256; }
  static std::int64_t BlocksIn(const Totals& totals) {
    constexpr std::int64_t kMost = std::int64_t{1} << 40;  // the process may have written any
    const auto blocks = static_cast<std::int64_t>(totals.allocated_blocks - totals.freed_blocks);
    const auto bytes = static_cast<std::int64_t>(totals.allocated_bytes - totals.freed_bytes);
    return std::clamp(blocks, std::int64_t{0}, kMost) +
           std::clamp(bytes, std::int64_t{0}, kMost) / 1024;
  }
  [[nodiscard]] Clock::duration Counted(const Totals& totals, Clock::duration look) const {
    if (looks_ >= MostUncounted()) return look;
    const auto blocks = static_cast<double>(BlocksIn(totals));
    return std::chrono::duration_cast<Clock::duration>(look * (blocks / (blocks + kBlocksOfALook)));
  }

  static constexpr std::int64_t kBlocksOfALook = 50'000;  // take as long as all else in a look
  static constexpr std::chrono::milliseconds kAlways{250};
  static constexpr std::chrono::milliseconds kAlwaysForReport{50};
  static constexpr std::chrono::nanoseconds kLeastPerBlock{100};  // where blocks are lost, more

  Clock::time_point first_at_;
  Clock::duration last_{};
  Clock::duration spent_{};  // what counts of it
  int looks_ = 0;
  bool is_for_report_ = false;
};

}  // namespace leakgate
