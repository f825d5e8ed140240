// The processor's counter of time, which gives a recording's events their times
// (common/event_stream.h).
#pragma once

#include <cstdint>
#include <string_view>

namespace leakgate {

// Returns whether the processor guarantees that its counter runs at one rate and never stops.
[[nodiscard]] bool HasSteadyCounter();

[[nodiscard]] std::uint64_t ReadCounter();

// The kernel's name of the counter, in its list of clock sources.
[[nodiscard]] std::string_view CounterClockSource();

}  // namespace leakgate
