// Bytes of an event of Windows' heap tracing -> what it means. Pure; any bytes may come.
#pragma once

#include "runner/etw/trace_event.h"

namespace leakgate {

// What is returned refers to `event.payload`.
[[nodiscard]] DecodedEvent DecodeEvent(const TraceEvent& event);

}  // namespace leakgate
