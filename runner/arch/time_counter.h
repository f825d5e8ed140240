// The processor's counter of time, by which a recording's events tell the time
// (common/event_stream.h).
#pragma once

#include <cstdint>

namespace leakgate {

// Whether the processor says that its counter runs at one rate and never stops.
[[nodiscard]] bool HasSteadyCounter();

[[nodiscard]] std::uint64_t ReadCounter();

}  // namespace leakgate
