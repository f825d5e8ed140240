#include "runner/recording/trusted_counter.h"

#include <string>

#include "runner/arch/time_counter.h"
#include "runner/base/regular_file.h"

namespace leakgate {

// The kernel removes a counter that differs between processors from this list.
bool SystemTrustsCounter() {
  constexpr std::uint64_t kMostBytes = 4096;
  const auto sources = ReadRegularFile(
      "/sys/devices/system/clocksource/clocksource0/available_clocksource", kMostBytes);
  const std::string name = " " + std::string(CounterClockSource());
  return sources && (" " + *sources).find(name) != std::string::npos;
}

}  // namespace leakgate
