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

// Not as a block that doubles: what that rises by in a cycle may be half or twice what it rose by
// in the long series.
bool RisesEachTime(const Net& net) {
  for (std::size_t i = 0; i < net.size(); ++i) {
    const bool is_of_pause = i % kLooksOfCycle == 2;
    if (!is_of_pause && net[i] <= 0) return false;
  }
  return true;
}

// What L1, L2 and L3 rise by, held against what as many repetitions add where nothing is freed.
FreedInTime JudgeByRate(const Net& net, std::int64_t expected, std::size_t cycles) {
  std::int64_t rise = 0;
  std::int64_t predicted = 0;
  for (std::size_t cycle = 1; cycle < cycles; ++cycle) {
    rise += RiseOfCycle(net, cycle);
    predicted += expected * kCyclePercent.at(cycle) / 100;
  }
  if (2 * rise >= predicted) return FreedInTime::kNot;
  return 10 * rise <= predicted ? FreedInTime::kMostly : FreedInTime::kPartly;
}

FreedInTime JudgeFirstCycle(const Net& net, std::int64_t before, std::int64_t expected) {
  // Of what is not freed, there would be n / m times as much: four times at the least, or half of
  // that if it is a block that doubles.
  if (before < 2 * net[0]) {
    return expected > 0 && 10 * net[1] > expected ? FreedInTime::kPartly : FreedInTime::kMostly;
  }
  const std::int64_t freed = before - RiseOfCycle(net, 0);
  return 20 * freed < before ? FreedInTime::kNot : FreedInTime::kPartly;
}

FreedInTime JudgeLevels(const Net& net, std::int64_t before, std::size_t cycles) {
  if (HardlyFalls(net, before)) return JudgeRising(net, before, cycles);
  FreedInTime told = FreedInTime::kPartly;
  for (std::size_t cycle = 1; cycle < cycles; ++cycle) {
    const std::int64_t rise = 100 * RiseOfCycle(net, cycle) / kCyclePercent.at(cycle);
    if (50 * rise <= before) return FreedInTime::kMostly;
    told = 2 * rise >= before ? FreedInTime::kNot : FreedInTime::kPartly;
  }
  return told;
}

FreedInTime JudgeNet(const Net& net, std::int64_t expected) {
  if (net.size() < kLooksOfCycle) return FreedInTime::kUnseen;
  const std::int64_t before = net[0] + net[1];
  if (before <= 0) return FreedInTime::kUnseen;
  const FreedInTime first = JudgeFirstCycle(net, before, expected);
  const std::size_t cycles = net.size() / kLooksOfCycle;
  if (cycles == 1 || first == FreedInTime::kMostly) return first;
  const FreedInTime levels = JudgeLevels(net, before, cycles);
  const bool hides_levels = HardlyFalls(net, before) ? RisesEachTime(net) : before < 2 * net[0];
  return expected > 0 && hides_levels ? std::min(levels, JudgeByRate(net, expected, cycles))
                                      : levels;
}

}  // namespace

Amount GrowthIn(const RepetitionSeries& series, std::int64_t repetitions) {
  const auto all = static_cast<std::int64_t>(CountRepetitions(series));
  if (all < 2) return {};
  if (series.repetitions != 0 || series.blocks.size() < 2) {
    const Amount grown = GrowthOf(series);
    return {grown.bytes * repetitions / all, grown.blocks * repetitions / all};
  }
  const std::size_t half = series.blocks.size() / 2;
  const auto later = [&](const Net& net) {
    const auto begin = net.begin() + static_cast<std::ptrdiff_t>(std::min(half, net.size()));
    const std::int64_t grown = std::accumulate(begin, net.end(), std::int64_t{0});
    const auto looks = static_cast<std::int64_t>(series.blocks.size() - half);
    return grown * repetitions / (looks * static_cast<std::int64_t>(series.stride));
  };
  return {later(series.bytes), later(series.blocks)};
}

FreedInTime JudgePauses(const RepetitionSeries& series, Amount expected) {
  return LessOf(JudgeNet(series.blocks, expected.blocks), JudgeNet(series.bytes, expected.bytes));
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
