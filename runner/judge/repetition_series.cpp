#include "runner/judge/repetition_series.h"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace leakgate {
namespace {

using Net = std::vector<std::int64_t>;

bool IsGrowth(std::int64_t net) { return net > 0; }

Growth ClassifyShort(const Net& net) {
  if (OnlyShrinks(net)) return Growth::kNone;
  if (std::all_of(net.begin(), net.end(), IsGrowth)) return Growth::kSteady;
  return !GoesUpAndDown(net) && HasStopped(net) ? Growth::kBounded : Growth::kIrregular;
}

// A block that grew: of how much it has room for, a short series does not tell.
bool GrowsWithoutBlocks(const RepetitionSeries& series) {
  for (std::size_t i = 0; i < series.bytes.size(); ++i) {
    if (IsGrowth(series.bytes[i]) && !IsGrowth(series.blocks[i])) return true;
  }
  return false;
}

std::int64_t RisesOf(const Net& net) {
  return std::accumulate(
      net.begin(), net.end(), std::int64_t{0},
      [](std::int64_t sum, std::int64_t value) { return sum + std::max<std::int64_t>(value, 0); });
}

// Of blocks that are added seldom: whether their bytes are what there is more. A block that grows
// by what each repetition appends gets a byte of each at the least.
bool AreBytesSeldom(const RepetitionSeries& series, std::int64_t repetitions) {
  std::size_t rises = 0;
  std::size_t with_blocks = 0;
  for (std::size_t i = 0; i < series.bytes.size(); ++i) {
    if (!IsGrowth(series.bytes[i])) continue;
    ++rises;
    if (IsGrowth(series.blocks[i])) ++with_blocks;
  }
  // One that moves from stack to stack is added again and again, and stays one.
  const bool are_added = 2 * GrowthOf(series).blocks >= RisesOf(series.blocks);
  const bool are_of_blocks = are_added && with_blocks > 0 && 10 * with_blocks >= 9 * rises;
  return are_of_blocks || 2 * GrowthOf(series).bytes < repetitions;
}

// kSteady is the worst, and kNone the best.
int RankOf(Growth growth) {
  switch (growth) {
    case Growth::kNone:
      return 0;
    case Growth::kBounded:
      return 1;
    case Growth::kIrregular:
      return 2;
    case Growth::kSteady:
      break;
  }
  return 3;
}

void AddNet(const Net& from, Net& to) {
  to.resize(std::max(to.size(), from.size()));
  for (std::size_t i = 0; i < from.size(); ++i) to[i] += from[i];
}

}  // namespace

void AddSeries(const RepetitionSeries& from, RepetitionSeries& to) {
  AddNet(from.blocks, to.blocks);
  AddNet(from.bytes, to.bytes);
  AddNet(from.told_blocks, to.told_blocks);
  AddNet(from.told_bytes, to.told_bytes);
  to.is_built_once = to.is_built_once && from.is_built_once;
  to.stride = std::max(to.stride, from.stride);
  to.repetitions = std::max(to.repetitions, from.repetitions);
  to.beyond = std::min(to.beyond, from.beyond);
  to.first += from.first;
}

std::size_t CountRepetitions(const RepetitionSeries& series) {
  if (series.repetitions != 0) return series.repetitions;
  return series.blocks.size() * series.stride + 1;
}

Amount GrowthOf(const RepetitionSeries& series) {
  return {std::accumulate(series.bytes.begin(), series.bytes.end(), std::int64_t{0}),
          std::accumulate(series.blocks.begin(), series.blocks.end(), std::int64_t{0})};
}

Growth ClassifyGrowth(const Net& net, SeriesLength length, const SeriesScale& scale) {
  if (net.empty()) return Growth::kIrregular;
  return length == SeriesLength::kShort ? ClassifyShort(net) : ClassifyLong(net, scale, length);
}

Growth ClassifyGrowth(const RepetitionSeries& series, SeriesLength length) {
  SeriesScale scale{.stride = series.stride, .beyond = series.beyond};
  // A block that grows stays one: how many entries it has, its blocks do not tell.
  constexpr std::int64_t kOneBlock = 128;
  const std::int64_t more_blocks = GrowthOf(series).blocks;
  const auto repetitions = static_cast<std::int64_t>(CountRepetitions(series));
  if (more_blocks * kOneBlock > repetitions) scale.entries = more_blocks;
  const bool are_blocks_seldom = 32 * RisesOf(series.blocks) < repetitions;
  scale.level = series.first.bytes;
  scale.is_of_block = GrowsWithoutBlocks(series);
  scale.is_seldom = are_blocks_seldom && AreBytesSeldom(series, repetitions);
  const Growth bytes = ClassifyGrowth(series.bytes, length, scale);
  scale.is_of_block = false;
  scale.is_seldom = are_blocks_seldom;
  scale.level = series.first.blocks;
  scale.huge = kHugeBlocks;
  const Growth blocks = ClassifyGrowth(series.blocks, length, scale);
  const Growth worse = RankOf(bytes) > RankOf(blocks) ? bytes : blocks;
  const bool is_too_short =
      length == SeriesLength::kShort && worse == Growth::kBounded && GrowsWithoutBlocks(series);
  return is_too_short ? Growth::kIrregular : worse;
}

std::size_t LastGrowth(const RepetitionSeries& series) {
  return std::max(LastRiseOf(series.blocks), LastRiseOf(series.bytes));
}

JudgedSeries JudgeStack(const SeriesByStack& site, const std::string& stack, SeriesLength length) {
  RepetitionSeries all;
  RepetitionSeries rest;  // without stacks that grow by themselves
  JudgedSeries growing;
  for (const auto& [text, series] : site) {
    AddSeries(series, all);
    const Growth growth = ClassifyGrowth(series, length);
    if (growth != Growth::kSteady) {
      AddSeries(series, rest);
    } else if (growing.series.blocks.empty()) {
      growing = {growth, series, true};
    }
  }
  const auto own = site.find(stack);
  if (own == site.end()) {
    if (!growing.series.blocks.empty()) return growing;
    return {ClassifyGrowth(all, length), all, true};
  }
  const Growth growth = ClassifyGrowth(own->second, length);
  const bool may_move = growth == Growth::kBounded || growth == Growth::kIrregular;
  if (may_move && ClassifyGrowth(rest, length) == Growth::kSteady) {
    return {Growth::kSteady, rest, true};
  }
  return {growth, own->second, false};
}

}  // namespace leakgate
