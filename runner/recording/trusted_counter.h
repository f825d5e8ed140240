// Whether the system relies on the processor's counter of time (arch/time_counter.h) itself.
#pragma once

namespace leakgate {

// Returns false if the counters of different processors may differ. Any thread may call it.
[[nodiscard]] bool SystemTrustsCounter();

}  // namespace leakgate
