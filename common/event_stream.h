// The events of a recording: what each thread allocated, freed and mapped, in the thread's order.
//
// They pass through buffers in the region. A thread takes a free buffer, writes its events there,
// and takes the next one when that is full. The runner drains the buffers into a file while the
// process runs, and frees them again. So if the process is killed, all that its threads have
// written remains.
//
//   thread 1   [buffer 4: full] [buffer 0: owned, 3104 bytes used]
//   thread 2   [buffer 2: owned, 64 bytes used]
//   free       [buffer 1] [buffer 3]
//
// Threat model for the runner: as for the region (region_layout.h). Copy once, check, use the copy.
#pragma once

#include <atomic>
#include <cstdint>

namespace leakgate {

// What a thread does if no buffer is free.
enum class WhenFull : std::uint32_t {
  kLose = 0,  // it continues, and counts the events that it has lost
  kWait = 1,  // it waits for one; if the runner drains nothing for seconds, it loses events
};

// Where times come from. Both are counted in units of 2^time_shift ticks.
enum class EventClock : std::uint32_t {
  kMonotonic = 0,  // CLOCK_MONOTONIC, in nanoseconds
  kCounter = 1,    // the processor's own counter, where it runs at one rate on all processors
};

// The page in front of the buffers' records.
struct EventControl {
  // Written by the runner before the process gets the region.
  std::uint32_t buffer_bytes;  // a multiple of 4096; 0 if nothing is recorded
  std::uint32_t clock;         // EventClock
  std::uint32_t time_shift;    // a unit of time is 2^time_shift ticks of the clock
  std::uint32_t reserved0;

  // Written by the runner before, and at any time. When more threads than there are buffers hold
  // one, the runner adds some. If there is no room for more, threads do not wait any longer.
  std::atomic<std::uint32_t> buffer_count;  // release, and acquire by threads
  std::atomic<std::uint32_t> when_full;     // WhenFull; relaxed
  // Written by the runner at any time, or by another command of the user's.
  std::atomic<std::uint32_t> is_stopped;  // 1: the recording is to end, and the program continues
  // 0: events are not recorded now. Threads read it relaxed: an event that happens just then may be
  // in the recording or not.
  std::atomic<std::uint32_t> is_on;
  std::atomic<std::uint32_t> drained;  // raised when buffers were freed; a futex; release

  // Written by the agent.
  alignas(64) std::atomic<std::uint32_t> filled;  // raised when a buffer is full; a futex; seq_cst
  // Written by both sides: 1 while the runner sleeps on `filled`; seq_cst.
  std::atomic<std::uint32_t> runner_waits;
  std::atomic<std::uint64_t> waits;      // how often a thread had to wait for a buffer
  std::atomic<std::uint64_t> waited_ns;  // and how long, in all
  // The number of free buffers. Both sides write it: the one that frees a buffer with release, the
  // one that takes it with acquire.
  alignas(64) std::atomic<std::int32_t> free_count;
  std::atomic<std::uint32_t> next_to_try;  // where the search for a free one begins
};
static_assert(sizeof(EventControl) == 192);

enum class EventBufferState : std::uint32_t {
  kFree = 0,   // any thread may take it
  kOwned = 1,  // a thread writes there; the used part can be read
  kFull = 2,   // nobody writes there any more, and the runner is to free it
};

struct alignas(64) EventBuffer {
  // EventBufferState; release when a buffer is handed over, acquire when it is taken or read.
  std::atomic<std::uint32_t> state;
  std::uint32_t thread;                   // in the region's table
  std::uint64_t sequence;                 // orders the buffers of one thread, from 1
  std::uint64_t begin_time;               // what the first event's time is relative to, in units
  std::uint32_t context;                  // of allocations, until an event changes it
  std::atomic<std::uint32_t> used_bytes;  // release, after the events; acquire by the runner
  // Events that the thread has lost since its previous buffer, and when that began and ended.
  std::uint64_t lost_events;
  std::uint64_t lost_begin;  // in units
};
static_assert(sizeof(EventBuffer) == 64);

// An event is one or more words. The first one:
//
//   63..62  EventTag
//   61..18  the block's address / 16, or for kOther 61..57 OtherEvent and 56..18 a value
//   17..0   units of time since the thread's event before
//
// The second word of kAllocate:
//
//   63..60  AllocationKind
//   59..33  stack id
//   32..0   size in bytes, or kLongSize: then a third word has it
//
// The second word of kFreeByStack is the stack id.
enum class EventTag : std::uint64_t { kAllocate = 0, kFree = 1, kFreeByStack = 2, kOther = 3 };

enum class OtherEvent : std::uint64_t {
  kTime = 0,          // value: none; word 2: the time, in units, that the next event is relative to
  kContext = 1,       // value: the context of allocations from now on
  kWindowBegins = 2,  // value: window
  kWindowEnds = 3,    // value: window
  kMark = 4,          // value: bytes of the name, which follows in whole words
  kThreadBegins = 5,  // value: none
  kThreadEnds = 6,    // value: none
  kMap = 7,           // value: kReservedBit | AllocationKind << 27 | stack; word 2: address;
                      // word 3: bytes
  kUnmap = 8,         // value: stack; word 2: address; word 3: bytes
  kCommit = 9,        // value: stack; word 2: address; word 3: bytes: reserved memory is committed
  // Value: stack; word 2: address; word 3: bytes: committed memory is returned to the kernel.
  kDecommit = 10,
  kModulesChange = 11,  // value: 1 a module was loaded, 2 one was unloaded
  kRestore = 12,  // as kMap: the preceding free did not happen, and the block is live as before
};

// Longer names are cut.
inline constexpr std::uint32_t kMostMarkBytes = 1024;

// Returns how many words follow the first one, which has `value`.
constexpr std::uint32_t WordsAfter(OtherEvent event, std::uint64_t value) {
  constexpr std::uint32_t kBytesOfWord = sizeof(std::uint64_t);
  switch (event) {
    case OtherEvent::kTime:
      return 1;
    case OtherEvent::kMark: {
      const std::uint64_t bytes = value < kMostMarkBytes ? value : kMostMarkBytes;
      return static_cast<std::uint32_t>((bytes + kBytesOfWord - 1) / kBytesOfWord);
    }
    case OtherEvent::kMap:
    case OtherEvent::kUnmap:
    case OtherEvent::kCommit:
    case OtherEvent::kDecommit:
    case OtherEvent::kRestore:
      return 2;
    default:
      return 0;
  }
}

inline constexpr std::uint32_t kEventTimeBits = 18;
inline constexpr std::uint64_t kMostEventDelta = (1ULL << kEventTimeBits) - 1;
inline constexpr std::uint32_t kEventTagShift = 62;
inline constexpr std::uint32_t kEventAddressBits = kEventTagShift - kEventTimeBits;
inline constexpr std::uint64_t kEventAddressMask = (1ULL << kEventAddressBits) - 1;
inline constexpr std::uint32_t kOtherEventShift = 57;
inline constexpr std::uint64_t kOtherValueMask = (1ULL << (kOtherEventShift - kEventTimeBits)) - 1;
inline constexpr std::uint64_t kOtherEventMask = 31;
inline constexpr std::uint32_t kEventSizeBits = 33;
inline constexpr std::uint64_t kLongSize = (1ULL << kEventSizeBits) - 1;
inline constexpr std::uint32_t kEventKindShift = 60;

constexpr std::uint64_t EventWord(EventTag tag, std::uint64_t address, std::uint64_t delta) {
  return (static_cast<std::uint64_t>(tag) << kEventTagShift) | ((address >> 4) << kEventTimeBits) |
         delta;
}
constexpr std::uint64_t OtherEventWord(OtherEvent event, std::uint64_t value, std::uint64_t delta) {
  return (static_cast<std::uint64_t>(EventTag::kOther) << kEventTagShift) |
         (static_cast<std::uint64_t>(event) << kOtherEventShift) |
         ((value & kOtherValueMask) << kEventTimeBits) | delta;
}
constexpr std::uint64_t AllocationWord(std::uint64_t kind, std::uint64_t stack,
                                       std::uint64_t bytes) {
  return (kind << kEventKindShift) | (stack << kEventSizeBits) |
         (bytes < kLongSize ? bytes : kLongSize);
}

// In the value of kMap: nothing can use the memory yet.
inline constexpr std::uint32_t kReservedBit = 31;

inline constexpr std::uint32_t kMaxEventBuffers = 4096;
inline constexpr std::uint64_t kMaxEventBytes = 1ULL << 28;  // of all buffers together

}  // namespace leakgate
