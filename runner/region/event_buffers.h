// The runner's end of the buffers through which a recording's events pass (common/event_stream.h).
//
// The runner that made the region drains them, on one thread at a time. The process may write
// anything there at any time: each value is copied once and checked, and a buffer with impossible
// values is left alone.
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

// How far a buffer has been read; the reader keeps this. Recordings of one image that follow each
// other share it.
struct EventPosition {
  std::uint64_t time = 0;     // of the last event, in units
  std::uint32_t context = 0;  // of allocations from there on
};

// What one thread has written into one buffer since the previous call.
struct EventPiece {
  std::uint32_t buffer = 0;
  std::uint32_t thread = 0;      // ids as in the region, not checked
  bool is_first = false;         // the first piece of this buffer; lost_events counts for it
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

  // Returns nullptr if the region records no events.
  [[nodiscard]] static Expected<std::unique_ptr<EventBuffers>> Attach(const UniqueFd& fd);

  // Switches events on or off while the process runs. Commands that do not drain the buffers also
  // call it.
  void SetOn(bool is_on);
  [[nodiscard]] bool IsOn() const;
  // Asks the runner that drains to end the recording, while the process continues.
  void AskToStop();
  [[nodiscard]] bool IsStopAsked() const;

  // Calls `use` with what has been written since the previous call, the pieces of each thread in
  // its order. `use` returns how many words it has used; the others are passed again. Buffers that
  // are full and used up are freed for the threads.
  using Use = std::function<std::size_t(const EventPiece& piece, EventPosition& position)>;
  void Drain(const Use& use);

  // Waits until it is time to drain, `patience` at most.
  void WaitUntilFilled(std::chrono::milliseconds patience);
  // Ends a wait, from another thread.
  void Wake();

  // The number of events that threads have lost because no buffer was free.
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
  [[nodiscard]] std::vector<Found> ScanUsed() const;
  // Of each thread, those up to one of its buffers, in its order.
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
