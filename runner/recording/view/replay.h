// Reads a recording once more, and tells a sink what becomes of each block that is to be shown: for
// formats that have events.
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "runner/recording/view/block_lives.h"
#include "runner/recording/view/recording_view.h"

namespace leakgate {

// The sink has, besides members of any kind:
//
//   void Allocated(std::uint64_t time_ns, std::uint64_t bytes, std::uint32_t stack)
//   void Freed(std::uint64_t time_ns, std::uint64_t bytes, std::uint32_t stack)
//   void Other(const RecordedEvent& event)     every event of another kind in the interval
//
// A realloc that failed has freed its block, and allocated it again.
template <typename Sink>
class Replay {
 public:
  // REQUIRES: `view` has been read. Both outlive it.
  Replay(RecordingView& view, Sink& sink)
      : view_(view), sink_(sink), watch_(view.MakeInterval()), lives_(*this) {}

  [[nodiscard]] Expected<void> Run() {
    RecordingVisitor visitor;
    visitor.blocks = [this](std::span<const LiveBlock> blocks) {
      for (const LiveBlock& block : blocks) lives_.Add(block);
      return Expected<void>();
    };
    visitor.events = [this](std::span<const RecordedEvent> events) {
      for (const RecordedEvent& event : events) Use(event);
      return Expected<void>();
    };
    return ReadAhead(view_.source(), visitor);
  }

  // For BlockLives only.
  void Knew(RecordedBlock& block) { Begin(block); }
  void Allocated(RecordedBlock& block) { Begin(block); }
  void IsLive(const RecordedBlock&) {}
  void Freed(RecordedBlock& block, const BlockEnd& end) {
    if (block.is_counted == 0 || watch_.phase() != IntervalWatch::Phase::kInside) return;
    sink_.Freed(end.time_ns, block.size_bytes, static_cast<std::uint32_t>(block.stack));
  }
  void FreeWasTold(const RecordedBlock&, const BlockEnd&) {}
  void Restored(RecordedBlock& block, const BlockEnd& end) {
    if (block.is_counted == 0 || watch_.phase() != IntervalWatch::Phase::kInside) return;
    sink_.Allocated(end.time_ns, block.size_bytes, static_cast<std::uint32_t>(block.stack));
  }

 private:
  void Begin(RecordedBlock& block) {
    const auto stack = static_cast<std::uint32_t>(block.stack);
    const bool is_chosen = watch_.phase() == IntervalWatch::Phase::kInside &&
                           view_.query().size_bytes.Has(block.size_bytes) &&
                           view_.stacks().Matches(stack);
    block.is_counted = is_chosen ? 1 : 0;
    if (is_chosen) sink_.Allocated(block.allocated_ns, block.size_bytes, stack);
  }

  void Use(const RecordedEvent& event) {
    if (event.kind == RecordedKind::kLost) {
      lives_.SetLossy();
      return;
    }
    if (event.time_ns >= watch_.next_time_ns()) (void)watch_.PassTime(event.time_ns);
    switch (event.kind) {
      case RecordedKind::kAllocate:
        return lives_.Allocate(event);
      case RecordedKind::kFree:
        return lives_.Free(event);
      case RecordedKind::kRestore:
        return lives_.Restore(event);
      case RecordedKind::kPause:
        lives_.SetLossy();
        break;
      default:
        break;
    }
    const bool was_inside = watch_.phase() == IntervalWatch::Phase::kInside;
    (void)watch_.PassEvent(event);
    if (was_inside || watch_.phase() == IntervalWatch::Phase::kInside) sink_.Other(event);
  }

  RecordingView& view_;
  Sink& sink_;
  IntervalWatch watch_;
  BlockLives<Replay> lives_;
};

}  // namespace leakgate
