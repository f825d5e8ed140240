#include "runner/recording/event_time.h"

#include <chrono>
#include <thread>

#include "runner/arch/time_counter.h"
#include "runner/recording/trusted_counter.h"

namespace leakgate {
namespace {

// A unit is the greatest power of two of ticks that is at most this long.
constexpr double kLongestUnitNs = 64;

std::uint64_t MonotonicNs() {
  // The agent's clock on each system.
  const std::chrono::nanoseconds now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(now.count());
}

std::uint64_t TicksNow(EventClock clock) {
  return clock == EventClock::kCounter ? ReadCounter() : MonotonicNs();
}

}  // namespace

EventTimeUnit ChooseEventTime() {
  EventTimeUnit unit;
  const bool has_counter = HasSteadyCounter() && SystemTrustsCounter();
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
