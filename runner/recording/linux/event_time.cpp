#include "runner/recording/event_time.h"

#include <time.h>

#include <chrono>
#include <string>
#include <thread>

#include "runner/arch/time_counter.h"
#include "runner/base/regular_file.h"

namespace leakgate {
namespace {

// A unit is the greatest power of two of ticks that is at most this long.
constexpr double kLongestUnitNs = 64;

std::uint64_t MonotonicNs() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

// The kernel removes a counter that differs between processors from this list.
bool KernelTrustsCounter() {
  constexpr std::uint64_t kMostBytes = 4096;
  const auto sources = ReadRegularFile(
      "/sys/devices/system/clocksource/clocksource0/available_clocksource", kMostBytes);
  const std::string name = " " + std::string(CounterClockSource());
  return sources && (" " + *sources).find(name) != std::string::npos;
}

std::uint64_t TicksNow(EventClock clock) {
  return clock == EventClock::kCounter ? ReadCounter() : MonotonicNs();
}

}  // namespace

EventTimeUnit ChooseEventTime() {
  EventTimeUnit unit;
  const bool has_counter = HasSteadyCounter() && KernelTrustsCounter();
  unit.clock = has_counter ? EventClock::kCounter : EventClock::kMonotonic;
  if (has_counter) {
    const std::uint64_t ticks = ReadCounter();
    const std::uint64_t begin = MonotonicNs();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const std::uint64_t passed = ReadCounter() - ticks;
    if (passed == 0) return {};
    unit.ns = static_cast<double>(MonotonicNs() - begin) / static_cast<double>(passed);
  }
  while (unit.shift < 16 && unit.ns * 2 <= kLongestUnitNs) {
    ++unit.shift;
    unit.ns *= 2;
  }
  return unit;
}

// The two clocks are read one after the other, several times; the pair that was read fastest is the
// most accurate.
EventMoment EventTimeNow(const EventTimeUnit& unit) {
  EventMoment best;
  std::uint64_t shortest = UINT64_MAX;
  for (int i = 0; i < 4; ++i) {
    const std::uint64_t before = TicksNow(unit.clock);
    const std::uint64_t ns = MonotonicNs();
    const std::uint64_t took = TicksNow(unit.clock) - before;
    if (took >= shortest) continue;
    shortest = took;
    best = {(before + took / 2) >> unit.shift, ns};
  }
  return best;
}

}  // namespace leakgate
