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

// Of blocks that are added seldom: whether their bytes are what there is more. A block that grows
// by what each repetition appends to it grows several times in the first repetitions, however much
// room it gets.
bool AreBytesSeldom(const RepetitionSeries& series) {
  const Amount grown = GrowthOf(series);
  const double of_one = static_cast<double>(series.first.bytes) /
                        static_cast<double>(std::max<std::int64_t>(series.first.blocks, 1));
  if (static_cast<double>(grown.bytes) <= 4 * of_one * static_cast<double>(grown.blocks))
    return true;
  constexpr std::ptrdiff_t kFirst = 64;
  const Net& first = series.told_bytes.empty() ? series.bytes : series.told_bytes;
  const auto end = first.begin() + std::min<std::ptrdiff_t>(kFirst, std::ssize(first));
  return std::count_if(first.begin(), end, IsGrowth) <= 1;
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
  // What is bounded beside it is filled in the first half.
  const auto half = series.blocks.begin() + std::ssize(series.blocks) / 2;
  const std::int64_t later = std::accumulate(half, series.blocks.end(), std::int64_t{0});
  const bool are_blocks_seldom = 2 * 32 * later < repetitions;
  scale.level = series.first.bytes;
  scale.is_of_block = GrowsWithoutBlocks(series);
  scale.is_seldom = are_blocks_seldom && AreBytesSeldom(series);
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
