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
