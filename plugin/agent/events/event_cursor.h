// Where a thread writes its next event (common/event_stream.h), and what it has allocated last.
//
//   buffer   [event][event][event]  .  .  .  .  .  .
//             begin                at          limit  <- room for kEventRoomWords from here
//
// Only the thread itself uses its cursor, while it is busy recording, so that no signal handler
// finds an event half written.
#pragma once

#include <cstdint>

#include "common/event_stream.h"

namespace leakgate::agent {

// What recording one call writes at most, without looking for room in between.
inline constexpr std::uint32_t kEventRoomWords = 16;

struct EventCursor {
  std::uint64_t* at = nullptr;
  std::uint64_t room_end = 0;  // there is room if `at` is not behind this; 0: there is no buffer
  std::uint64_t time = 0;      // of the event before, in units
  std::uint64_t* begin = nullptr;
  EventBuffer* buffer = nullptr;
  const void* last_block = nullptr;  // that the thread has allocated
  std::uint32_t context = 0;         // of the allocation before
  std::uint64_t sequence = 0;        // of the buffer
  std::uint64_t lost_events = 0;     // since the buffer before was full
  std::uint64_t lost_begin = 0;
};

}  // namespace leakgate::agent
