// Plays the events of a recording: their meaning for the lives of blocks and for an interval, and
// the events that are known to be missing. The sink has the functions of BlockLives' sinks, and
// these:
//
//   void Lost(const RecordedEvent& event)     events were lost; comes before the events around them
//   void Comes(const RecordedEvent& event)    any other event, before it has an effect
//   void FollowPhase()                        the interval has begun, or ended
//   void Before(const RecordedEvent& event)   an event of no block, before FollowPhase
//   void After(const RecordedEvent& event)    the same event, after it
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "runner/recording/file/recorded_event.h"
#include "runner/recording/view/block_lives.h"
#include "runner/recording/view/interval.h"

namespace leakgate {

template <typename Sink>
class EventPlayer {
 public:
  EventPlayer(Interval interval, Sink& sink)
      : sink_(sink), watch_(std::move(interval)), lives_(sink) {}

  void AddLive(std::span<const LiveBlock> blocks) {
    for (const LiveBlock& block : blocks) lives_.Add(block);
  }
  void Add(std::span<const RecordedEvent> events) {
    constexpr std::size_t kEventsAhead = 16;
    for (std::size_t i = 0; i < events.size(); ++i) {
      if (i + kEventsAhead < events.size()) lives_.Prefetch(events[i + kEventsAhead]);
      Play(events[i]);
    }
  }
  // No event with a time before `time_ns` comes any more.
  void PassTime(std::uint64_t time_ns) {
    if (time_ns >= watch_.next_time_ns() && watch_.PassTime(time_ns)) Follow();
  }

  [[nodiscard]] const IntervalWatch& watch() const { return watch_; }
  [[nodiscard]] BlockLives<Sink>& lives() { return lives_; }
  [[nodiscard]] const BlockLives<Sink>& lives() const { return lives_; }

 private:
  void Play(const RecordedEvent& event) {
    if (event.kind == RecordedKind::kLost) [[unlikely]] {
      lives_.SetLossy();
      return sink_.Lost(event);
    }
    PassTime(event.time_ns);
    sink_.Comes(event);
    if (event.kind == RecordedKind::kAllocate) {
      // After the interval, only the fate of its blocks is counted.
      if (watch_.phase() != IntervalWatch::Phase::kAfter) lives_.Allocate(event);
    } else if (event.kind == RecordedKind::kFree) {
      lives_.Free(event);
    } else if (event.kind == RecordedKind::kRestore) {
      lives_.Restore(event);
    } else {
      PlayOther(event);
    }
  }

  void PlayOther(const RecordedEvent& event) {
    sink_.Before(event);
    const bool is_gap = event.kind == RecordedKind::kPause || event.kind == RecordedKind::kContinue;
    if (is_gap) lives_.SetLossy();
    if (watch_.PassEvent(event)) Follow();
    sink_.After(event);
  }

  void Follow() {
    if (watch_.phase() == IntervalWatch::Phase::kAfter) lives_.EndAllocations();
    sink_.FollowPhase();
  }

  Sink& sink_;
  IntervalWatch watch_;
  BlockLives<Sink> lives_;
};

}  // namespace leakgate
