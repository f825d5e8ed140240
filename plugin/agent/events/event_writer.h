// Writes what a thread does into the buffers of a recording (common/event_stream.h).
//
// Called on the thread that records, between the moment it becomes busy and the moment it is ready
// again (threads/recording.h). The event of an allocation is written after the allocator has
// returned the block, and that of a free before the allocator gets the block: so for one address,
// events are written in the order in which blocks were allocated and freed there.
//
// If no buffer is free, a thread waits for the runner or loses the event, as the runner has asked.
// A lost event is counted in the thread's shard and in its next buffer.
#pragma once

#include <cstdint>
#include <string_view>

#include "common/region_layout.h"
#include "common/system.h"
#include "plugin/agent/arch/processor.h"
#include "plugin/agent/base/region.h"
#include "plugin/agent/events/event_cursor.h"
#include "plugin/agent/host/on_switch.h"

#include LEAKGATE_ARCH(counter)
#include LEAKGATE_ARCH(memory)
#include LEAKGATE_ARCH(time_stamp)
#include LEAKGATE_AGENT(monotonic_time)

namespace leakgate::agent {

// Maps the buffers of the region's file, if the runner wants events. Returns false if it cannot.
// REQUIRES: the region is mapped; no thread records.
[[nodiscard]] bool StartEvents(int region_fd);
// Frees the buffers' memory and keeps its addresses.
void ParkEvents();
// For a fork child, which has not inherited them.
void ForgetEvents();
// Returns whether StartEvents has found that events are wanted.
[[nodiscard]] bool AreEventsWanted();
// Returns what SwitchOn is to be told, after StartEvents.
[[nodiscard]] EventSwitch EventsAsked();

// The thread that writes: its id in the region, its cursor and its counters.
struct EventThread {
  std::uint32_t id;
  EventCursor& cursor;
  CounterShard& shard;
};

// Whether there is room for all events of one call.
inline bool HasEventRoom(const EventCursor& cursor) {
  return reinterpret_cast<std::uint64_t>(cursor.at) < cursor.room_end;
}
// Finds room, and waits for it if the runner has asked for that. Should be called before the thread
// is busy, so that a signal handler that runs during the wait can record.
void MakeEventRoom(const EventThread& thread);

// Passes the buffer of a thread that ends to the runner.
void LeaveEventBuffer(EventCursor& cursor);

// Where the runner switches events on and off while the process runs; it points to a word that is 0
// until BeginEvents. Relaxed: the word has been mapped since before tracing was switched on, and
// nothing else is published with it.
extern LEAKGATE_INTERNAL std::atomic<const std::atomic<std::uint32_t>*> g_events_are_on;
inline bool AreEventsOn() {
  return g_events_are_on.load(std::memory_order_relaxed)->load(std::memory_order_relaxed) != 0;
}

// Must be called when the trial allocation at the begin of tracing is over: from now on, the
// runner's switch applies.
void BeginEvents();

inline std::uint64_t EventTime() {
  const std::uint64_t ticks = g_switch.reads_time_stamp != 0 ? ReadTimeStamp() : MonotonicTime();
  return ticks >> g_switch.event_time_shift;
}

// Writes the time as an event of its own, because it is too far from that of the previous event.
// Returns the time for the next event's word.
std::uint64_t WriteEventTime(EventCursor& cursor, std::uint64_t now);

// Returns the units of time since the thread's previous event.
inline std::uint64_t PassTime(EventCursor& cursor) {
  const std::uint64_t now = EventTime();
  const std::uint64_t delta = now - cursor.time;
  if (__builtin_expect(delta > kMostEventDelta, 0)) return WriteEventTime(cursor, now);
  cursor.time = now;
  return delta;
}

// Release pairs with the runner's acquire: the used part has been written.
inline void PublishEvents(EventCursor& cursor, std::uint64_t* end) {
  cursor.at = end;
  const auto used =
      reinterpret_cast<std::uint64_t>(end) - reinterpret_cast<std::uint64_t>(cursor.begin);
  cursor.buffer->used_bytes.store(static_cast<std::uint32_t>(used), std::memory_order_release);
}

struct AllocationEvent {
  std::uint64_t address;
  std::uint64_t size_bytes;
  std::uint32_t stack;
  std::uint32_t context;
  AllocationKind kind;
};

// Writes an allocation whose context differs from the previous one, or whose size needs a word of
// its own.
void WriteLongAllocation(EventCursor& cursor, const AllocationEvent& event);

// These two REQUIRE HasEventRoom and AreEventsOn.
inline void WriteAllocation(EventCursor& cursor, const AllocationEvent& event) {
  if (__builtin_expect(event.context != cursor.context || event.size_bytes >= kLongSize, 0)) {
    return WriteLongAllocation(cursor, event);
  }
  const std::uint64_t delta = PassTime(cursor);
  std::uint64_t* const at = cursor.at;
  at[0] = EventWord(EventTag::kAllocate, WithoutTag(event.address), delta);
  at[1] = AllocationWord(static_cast<std::uint64_t>(event.kind), event.stack, event.size_bytes);
  PublishEvents(cursor, at + 2);
}
inline void WriteFree(EventCursor& cursor, std::uint64_t address) {
  const std::uint64_t delta = PassTime(cursor);
  cursor.at[0] = EventWord(EventTag::kFree, WithoutTag(address), delta);
  PublishEvents(cursor, cursor.at + 1);
}

// These make room first, and do nothing if events are not recorded now.
void NoteAllocation(const EventThread& thread, const AllocationEvent& event);
void NoteFree(const EventThread& thread, std::uint64_t address);
void NoteFreeByStack(const EventThread& thread, std::uint64_t address, std::uint32_t stack);
void NoteOther(const EventThread& thread, OtherEvent event, std::uint64_t value);
struct EventWords {
  std::uint64_t first;
  std::uint64_t second;
};
void NoteOther(const EventThread& thread, OtherEvent event, std::uint64_t value, EventWords words);
void NoteMark(const EventThread& thread, std::string_view name);

}  // namespace leakgate::agent
