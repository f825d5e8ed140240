#include "runner/judge/pause.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace leakgate {
namespace {

using Net = std::vector<std::int64_t>;

// The levels before and after the pause, by what there was after the first repetition.
struct Levels {
  std::int64_t before = 0;  // the last one
  std::int64_t fall = 0;    // the most by which it fell before
  std::int64_t least = 0;   // from the pause on
};

Levels LevelsAround(const Net& net, std::size_t looks_before) {
  Levels levels;
  std::int64_t level = 0;
  std::int64_t most = 0;
  for (std::size_t i = 0; i < net.size(); ++i) {
    level += net[i];
    if (i < looks_before) {
      most = std::max(most, level);
      levels.fall = std::max(levels.fall, most - level);
      levels.before = levels.least = level;
    } else {
      levels.least = std::min(levels.least, level);
    }
  }
  return levels;
}

FreedInTime JudgeNet(const Net& net, std::size_t looks_before) {
  const Levels levels = LevelsAround(net, looks_before);
  if (levels.before <= 0) return FreedInTime::kUnseen;
  const std::int64_t freed = levels.before - levels.least - levels.fall;
  if (2 * freed >= levels.before) return FreedInTime::kMostly;
  return 20 * freed >= levels.before ? FreedInTime::kPartly : FreedInTime::kNot;
}

}  // namespace

FreedInTime JudgePause(const RepetitionSeries& series, std::size_t looks_before) {
  return std::max(JudgeNet(series.blocks, looks_before), JudgeNet(series.bytes, looks_before));
}

FreedInTime LessOf(FreedInTime a, FreedInTime b) {
  if (a == FreedInTime::kUnseen) return b;
  return b == FreedInTime::kUnseen ? a : std::min(a, b);
}

}  // namespace leakgate
