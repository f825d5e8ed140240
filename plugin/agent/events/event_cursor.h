// Where a thread writes its next event (common/event_stream.h), and what it last allocated.
//
//   buffer   [event][event][event]  .  .  .  .  .  .
//             begin                at          limit  <- room for kEventRoomWords from here
//
// Only the thread itself uses its cursor, while it is busy recording, so no signal handler finds a
// half-written event.
#pragma once

#include <cstdint>

#include "common/event_stream.h"

namespace leakgate::agent {

// The most that the events of one call take. They are written without checking for room in between.
inline constexpr std::uint32_t kEventRoomWords = 16;

struct EventCursor {
  std::uint64_t* at = nullptr;
  std::uint64_t room_end = 0;  // there is room if `at` is not after this; 0: there is no buffer
  std::uint64_t time = 0;      // of the previous event, in units
  std::uint64_t* begin = nullptr;
  EventBuffer* buffer = nullptr;
  const void* last_block = nullptr;  // the last block that the thread has allocated
  std::uint32_t context = 0;         // of the previous allocation
  std::uint64_t sequence = 0;        // of the buffer
  std::uint64_t lost_events = 0;     // since the previous buffer was full
  std::uint64_t lost_begin = 0;
};

}  // namespace leakgate::agent
