// The runner's end of the buffers through which a recording's events pass (common/event_stream.h).
//
// Whoever made the region drains them, on one thread at a time. The process may write anything
// there at any time: each value is copied once and checked, and a buffer that makes no sense is
// left alone.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "common/region_layout.h"
#include "runner/base/descriptors.h"
#include "runner/base/expected.h"

namespace leakgate {

// How events are to be recorded.
struct EventRequest {
  std::uint32_t buffer_bytes = 0;  // of one buffer, a multiple of 4096; 0: nothing is recorded
  std::uint32_t buffer_count = 0;
  WhenFull when_full = WhenFull::kWait;
  EventClock clock = EventClock::kMonotonic;
  std::uint32_t time_shift = 0;
};

inline constexpr std::uint32_t kMostBufferBytes = 1U << 20;

// How far a buffer has been read, as whoever reads it says. Recordings of one image that follow
// each other share it.
struct EventPosition {
  std::uint64_t time = 0;     // of the last event, in units
  std::uint32_t context = 0;  // of allocations from there on
};

// What one thread has written into one buffer since the last look.
struct EventPiece {
  std::uint32_t buffer = 0;
  std::uint32_t thread = 0;      // ids as in the region, not checked
  bool is_first = false;         // of this buffer: what was lost before is its own
  bool is_full = false;          // the thread writes nothing more there
  std::uint64_t begin_time = 0;  // of the buffer
  std::uint64_t lost_events = 0;
  std::uint64_t lost_begin = 0;
  std::span<const std::uint64_t> words;  // a copy
};

class EventBuffers {
 public:
  // Asks for events in the region behind `fd`. REQUIRES: no process has the region yet.
  static Expected<void> Ask(const UniqueFd& fd, const EventRequest& request);

  // Returns nullptr if nothing is recorded there.
  [[nodiscard]] static Expected<std::unique_ptr<EventBuffers>> Attach(const UniqueFd& fd);

  // Switches events on or off, while the process runs. Also called by commands that do not drain.
  void SetOn(bool is_on);
  [[nodiscard]] bool IsOn() const;
  // Asks whoever drains to end the recording, while the process goes on.
  void AskToStop();
  [[nodiscard]] bool IsStopAsked() const;

  // Calls `use` with what has been written since the last look, the pieces of each thread in its
  // order. It returns how many words it has used; it gets the others again. Buffers that are full
  // and used up are given back.
  using Use = std::function<std::size_t(const EventPiece& piece, EventPosition& position)>;
  void Drain(const Use& use);

  // Waits until it is time to drain, `patience` at most.
  void WaitUntilFilled(std::chrono::milliseconds patience);
  // Ends a wait, from another thread.
  void Wake();

  // Events that threads have lost because no buffer was free, in all.
  [[nodiscard]] std::uint64_t LostEvents() const;
  [[nodiscard]] std::uint64_t Waits() const;
  [[nodiscard]] std::uint64_t WaitedNs() const;

 private:
  EventBuffers(Mapping tables, Mapping control, Mapping memory, std::uint32_t bytes,
               std::uint32_t count);

  EventControl& Control() const { return *reinterpret_cast<EventControl*>(control_.data()); }
  EventBuffer& Record(std::uint32_t buffer) const;

  struct Found {
    std::uint32_t buffer;
    std::uint32_t thread;
    std::uint64_t sequence;
    EventBufferState state;
  };
  [[nodiscard]] std::vector<Found> FindUsed() const;
  void DrainOne(const Found& found, const Use& use);
  void AddBuffers(const std::vector<Found>& used);
  void ReleaseBuffer(std::uint32_t buffer);

  Mapping tables_;   // the region's, read only
  Mapping control_;  // EventControl and the buffers' records
  Mapping memory_;   // the buffers, read only
  const std::uint32_t buffer_bytes_;
  std::uint32_t buffer_count_;
  std::vector<std::uint32_t> used_words_;  // by buffer, as the next
  std::vector<EventPosition> positions_;
  std::vector<std::uint64_t> copy_;
};

}  // namespace leakgate
