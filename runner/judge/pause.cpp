#include "runner/judge/pause.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace leakgate {
namespace {

using Net = std::vector<std::int64_t>;

std::int64_t RiseOfCycle(const Net& net, std::size_t cycle) {
  const auto begin = net.begin() + static_cast<std::ptrdiff_t>(cycle * kLooksOfCycle);
  return std::accumulate(begin, begin + kLooksOfCycle, std::int64_t{0});
}

// What goes up and down beside it falls by little.
bool HardlyFalls(const Net& net, std::int64_t before) {
  std::int64_t falls = 0;
  for (const std::int64_t value : net) falls -= std::min<std::int64_t>(value, 0);
  return 20 * falls < before;
}

// REQUIRES: it hardly falls, in two or three cycles. There, the repetitions become 2.4 and 4.2
// times as many: a block that grows by half each time grows to 1.5 and 2.8 times its size, or more.
// One that is kept at its largest grows once by chance.
FreedInTime JudgeRising(const Net& net, std::int64_t before, std::size_t cycles) {
  const std::int64_t level = std::accumulate(net.begin(), net.end(), std::int64_t{0});
  if (cycles > 2) return 10 * level < 28 * before ? FreedInTime::kMostly : FreedInTime::kNot;
  if (10 * level < 15 * before) return FreedInTime::kMostly;
  return 10 * level < 23 * before ? FreedInTime::kPartly : FreedInTime::kNot;
}

FreedInTime JudgeNet(const Net& net) {
  if (net.size() < kLooksOfCycle) return FreedInTime::kUnseen;
  const std::int64_t before = net[0] + net[1];
  if (before <= 0) return FreedInTime::kUnseen;
  // Of what is not freed, there would be n / m times as much: four times at the least, or half of
  // that if it is a block that doubles.
  if (before < 2 * net[0]) return FreedInTime::kMostly;
  const std::size_t cycles = net.size() / kLooksOfCycle;
  if (cycles == 1) {
    const std::int64_t freed = before - RiseOfCycle(net, 0);
    return 20 * freed < before ? FreedInTime::kNot : FreedInTime::kPartly;
  }
  if (HardlyFalls(net, before)) return JudgeRising(net, before, cycles);
  FreedInTime told = FreedInTime::kPartly;
  for (std::size_t cycle = 1; cycle < cycles; ++cycle) {
    const std::int64_t rise = 100 * RiseOfCycle(net, cycle) / kCyclePercent.at(cycle);
    if (50 * rise <= before) return FreedInTime::kMostly;
    told = 2 * rise >= before ? FreedInTime::kNot : FreedInTime::kPartly;
  }
  return told;
}

}  // namespace

FreedInTime JudgePauses(const RepetitionSeries& series) {
  return LessOf(JudgeNet(series.blocks), JudgeNet(series.bytes));
}

bool Stays(const RepetitionSeries& series) {
  constexpr std::int64_t kMany = 32;
  const Net& net = series.blocks;
  if (net.size() < 3 * kLooksOfCycle || GoesUpAndDown(net)) return false;
  const std::int64_t earlier = RiseOfCycle(net, 1) * kCyclePercent[2];
  const std::int64_t later = RiseOfCycle(net, 2) * kCyclePercent[1];
  const auto [less, more] = std::minmax(earlier, later);
  return RiseOfCycle(net, 1) >= kMany && 5 * less >= 4 * more;
}

FreedInTime LessOf(FreedInTime a, FreedInTime b) {
  if (a == FreedInTime::kUnseen) return b;
  return b == FreedInTime::kUnseen ? a : std::min(a, b);
}

}  // namespace leakgate
