// The part of a recording that is shown: from one moment to another, each given by time, by a mark,
// or by the begin or end of a test. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>

#include "runner/recording/file/recorded_event.h"

namespace leakgate {

// One end of an interval. The begin of an interval is before all events of its time. So is its end:
// what happens at that time is after the interval.
struct IntervalBound {
  std::uint64_t time_ns = UINT64_MAX;  // UINT64_MAX: the moment is found by an event
  // Called for the begins and ends of windows, and for marks: is this the moment? Empty: the time
  // decides.
  std::function<bool(const RecordedEvent& event)> is_at{};
};

struct Interval {
  IntervalBound from{.time_ns = 0};
  IntervalBound to{};
};

// Follows an interval while events pass.
class IntervalWatch {
 public:
  enum class Phase { kBefore, kInside, kAfter };

  explicit IntervalWatch(Interval interval) : interval_(std::move(interval)) {
    if (!interval_.from.is_at && interval_.from.time_ns == 0) Begin(0);
    SetNextTime();
  }

  [[nodiscard]] Phase phase() const { return phase_; }
  // Events of this time and later change the phase: PassTime must be called first.
  [[nodiscard]] std::uint64_t next_time_ns() const { return next_time_ns_; }

  // Each returns true if the phase has changed. After kBefore it may be kInside or kAfter.
  bool PassTime(std::uint64_t time_ns) {
    const Phase before = phase_;
    const std::uint64_t to = interval_.to.is_at ? UINT64_MAX : interval_.to.time_ns;
    if (phase_ == Phase::kBefore && !interval_.from.is_at && time_ns >= interval_.from.time_ns) {
      Begin(interval_.from.time_ns);
    }
    if (phase_ == Phase::kBefore && time_ns >= to) to_came_first_ = true;
    if (phase_ == Phase::kInside && time_ns >= to) End(to);
    SetNextTime();
    return phase_ != before;
  }
  bool PassEvent(const RecordedEvent& event) {
    if (phase_ == Phase::kAfter) return false;
    const bool is_to = interval_.to.is_at && interval_.to.is_at(event);
    if (phase_ == Phase::kInside) {
      if (is_to) End(event.time_ns);
      return is_to;
    }
    to_came_first_ = to_came_first_ || is_to;
    if (!interval_.from.is_at || !interval_.from.is_at(event)) return false;
    Begin(event.time_ns);
    SetNextTime();
    return true;
  }

  // Returns whether the interval has ended by its bound, and not with the recording.
  [[nodiscard]] bool has_ended() const { return phase_ == Phase::kAfter; }
  [[nodiscard]] bool has_begun() const { return phase_ != Phase::kBefore; }
  // Returns whether its end came before its begin, and not again after it.
  [[nodiscard]] bool is_reversed() const { return to_came_first_ && !has_ended(); }
  [[nodiscard]] std::uint64_t begin_ns() const { return begin_ns_; }
  [[nodiscard]] std::uint64_t end_ns() const { return end_ns_; }

 private:
  void Begin(std::uint64_t time_ns) {
    phase_ = Phase::kInside;
    begin_ns_ = time_ns;
  }
  void End(std::uint64_t time_ns) {
    phase_ = Phase::kAfter;
    end_ns_ = time_ns;
  }
  void SetNextTime() {
    next_time_ns_ = UINT64_MAX;
    if (phase_ == Phase::kBefore && !interval_.from.is_at) next_time_ns_ = interval_.from.time_ns;
    const bool has_to = !interval_.to.is_at && phase_ != Phase::kAfter && !to_came_first_;
    if (has_to) next_time_ns_ = std::min(next_time_ns_, interval_.to.time_ns);
  }

  Interval interval_;
  Phase phase_ = Phase::kBefore;
  bool to_came_first_ = false;
  std::uint64_t begin_ns_ = 0;
  std::uint64_t end_ns_ = 0;
  std::uint64_t next_time_ns_ = UINT64_MAX;
};

}  // namespace leakgate
