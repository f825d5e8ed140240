// The clock of a recording's events, and its times in nanoseconds.
#pragma once

#include <cstdint>

#include "common/event_stream.h"

namespace leakgate {

struct EventTimeUnit {
  EventClock clock = EventClock::kMonotonic;
  std::uint32_t shift = 0;
  double ns = 1;  // of one unit, as measured in the last milliseconds
};

// Chooses the processor's counter if it is steady and the kernel has not found that it differs
// between processors; else CLOCK_MONOTONIC. Takes some milliseconds.
[[nodiscard]] EventTimeUnit ChooseEventTime();

// The present moment by both clocks.
struct EventMoment {
  std::uint64_t units = 0;
  std::uint64_t monotonic_ns = 0;
};
[[nodiscard]] EventMoment EventTimeNow(const EventTimeUnit& unit);

}  // namespace leakgate
