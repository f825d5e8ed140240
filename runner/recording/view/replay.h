// Reads a recording once more, and reports to a sink the fate of each block that is to be shown:
// for formats with events.
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "runner/recording/view/event_player.h"
#include "runner/recording/view/recording_view.h"

namespace leakgate {

// The sink has, besides members of any kind:
//
//   void Allocated(std::uint64_t time_ns, std::uint64_t bytes, std::uint32_t stack)
//   void Freed(std::uint64_t time_ns, std::uint64_t bytes, std::uint32_t stack)
//   void Other(const RecordedEvent& event)     every event of another kind in the interval
//
// A realloc that failed is reported as a free of its block, and as an allocation.
template <typename Sink>
class Replay {
 public:
  // REQUIRES: `view` has been read. Both outlive it.
  Replay(RecordingView& view, Sink& sink)
      : view_(view), sink_(sink), player_(view.MakeInterval(), *this) {}

  [[nodiscard]] Expected<void> Run() {
    RecordingVisitor visitor;
    visitor.blocks = [this](std::span<const LiveBlock> blocks) {
      player_.AddLive(blocks);
      return Expected<void>();
    };
    visitor.events = [this](std::span<const RecordedEvent> events) {
      player_.Add(events);
      return Expected<void>();
    };
    return ReadAhead(view_.source(), visitor);
  }

  // For EventPlayer only.
  void Lost(const RecordedEvent&) {}
  void Comes(const RecordedEvent&) {}
  void FollowPhase() {}
  void Before(const RecordedEvent&) { was_inside_ = IsInside(); }
  void After(const RecordedEvent& event) {
    if (was_inside_ || IsInside()) sink_.Other(event);
  }
  void WasLive(RecordedBlock& block) { Begin(block); }
  void Allocated(RecordedBlock& block) { Begin(block); }
  void IsLive(const RecordedBlock&) {}
  void Freed(RecordedBlock& block, const BlockEnd& end) {
    if (block.is_counted == 0 || !IsInside()) return;
    sink_.Freed(end.time_ns, block.size_bytes, static_cast<std::uint32_t>(block.stack));
  }
  void FreedEarlier(const RecordedBlock&, const BlockEnd&) {}
  void Restored(RecordedBlock& block, const BlockEnd& end) {
    if (block.is_counted == 0 || !IsInside()) return;
    sink_.Allocated(end.time_ns, block.size_bytes, static_cast<std::uint32_t>(block.stack));
  }

 private:
  void Begin(RecordedBlock& block) {
    const auto stack = static_cast<std::uint32_t>(block.stack);
    const bool is_chosen = IsInside() && view_.query().size_bytes.Has(block.size_bytes) &&
                           view_.stacks().Matches(stack);
    block.is_counted = is_chosen ? 1 : 0;
    if (is_chosen) sink_.Allocated(block.allocated_ns, block.size_bytes, stack);
  }

  bool IsInside() const { return player_.watch().phase() == IntervalWatch::Phase::kInside; }

  RecordingView& view_;
  Sink& sink_;
  EventPlayer<Replay> player_;
  bool was_inside_ = false;
};

}  // namespace leakgate
