// What a recording lacks: events that were lost, and the time while it was paused.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "runner/recording/file/recorded_event.h"

namespace leakgate {

// A span of time in which something is unknown.
struct LossSpan {
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  std::uint32_t thread = 0;  // of lost events; 0 for a pause
  std::uint64_t events = 0;  // how many were lost; 0 for a pause, whose events are not counted
  [[nodiscard]] bool IsPause() const { return events == 0; }
};

class Losses {
 public:
  static constexpr std::size_t kMostSpans = 200;  // that are kept; all are counted

  // Handles an event of the kinds kLost, kPause and kContinue.
  void Add(const RecordedEvent& event) {
    if (event.kind == RecordedKind::kLost) {
      ++tellings_;
      if (event.size_bytes == 0) return;
      lost_events_ += event.size_bytes;
      AddSpan({.begin_ns = std::min(event.address, event.time_ns),
               .end_ns = event.time_ns,
               .thread = event.thread,
               .events = event.size_bytes});
    } else if (event.kind == RecordedKind::kPause) {
      if (!is_paused_) paused_ns_ = event.time_ns;
      is_paused_ = true;
    } else {
      EndPause(event.time_ns);
    }
  }
  void Finish(std::uint64_t end_ns) { EndPause(end_ns); }

  [[nodiscard]] bool empty() const { return span_count_ == 0; }
  [[nodiscard]] std::uint64_t lost_events() const { return lost_events_; }
  // How many events of the kind kLost there were: they only report events.
  [[nodiscard]] std::uint64_t tellings() const { return tellings_; }
  [[nodiscard]] std::uint64_t span_count() const { return span_count_; }
  // The first ones.
  [[nodiscard]] const std::vector<LossSpan>& spans() const { return spans_; }
  [[nodiscard]] std::uint64_t first_begin_ns() const { return first_begin_ns_; }
  [[nodiscard]] std::uint64_t last_end_ns() const { return last_end_ns_; }

 private:
  void EndPause(std::uint64_t time_ns) {
    if (is_paused_) AddSpan({.begin_ns = paused_ns_, .end_ns = std::max(time_ns, paused_ns_)});
    is_paused_ = false;
  }
  void AddSpan(const LossSpan& span) {
    ++span_count_;
    first_begin_ns_ = std::min(first_begin_ns_, span.begin_ns);
    last_end_ns_ = std::max(last_end_ns_, span.end_ns);
    if (spans_.size() < kMostSpans) spans_.push_back(span);
  }

  std::vector<LossSpan> spans_;
  std::uint64_t span_count_ = 0;
  std::uint64_t lost_events_ = 0;
  std::uint64_t tellings_ = 0;
  std::uint64_t first_begin_ns_ = UINT64_MAX;
  std::uint64_t last_end_ns_ = 0;
  std::uint64_t paused_ns_ = 0;
  bool is_paused_ = false;
};

}  // namespace leakgate
