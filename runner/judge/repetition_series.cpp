#include "runner/judge/repetition_series.h"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace leakgate {
namespace {

using Net = std::vector<std::int64_t>;

// Growth that lasts this long fails; what has stopped by the half of it is told earlier.
constexpr std::size_t kLong = 63;
constexpr std::size_t kLeast = kLong / 2;

// How much longer than any wait for growth before it a stretch without growth must be to show that
// it has stopped. A container that doubles waits as long as all the time before, and one that had
// something from the beginning twice as long as the last time.
constexpr std::size_t kQuietFactor = 3;

bool IsGrowth(std::int64_t net) { return net > 0; }

bool OnlyShrinks(const Net& net) { return std::none_of(net.begin(), net.end(), IsGrowth); }

bool GoesUpAndDown(const Net& net) {
  return std::any_of(net.begin(), net.end(), [](std::int64_t value) { return value < 0; });
}

std::size_t LastGrowthOf(const Net& net) {
  const auto last = std::find_if(net.rbegin(), net.rend(), IsGrowth);
  return static_cast<std::size_t>(net.rend() - last);
}

std::size_t LongestWait(const Net& net) {
  std::size_t longest = 0;
  std::size_t last = 0;
  for (std::size_t i = 0; i < net.size(); ++i) {
    if (!IsGrowth(net[i])) continue;
    longest = std::max(longest, i + 1 - last);
    last = i + 1;
  }
  return longest;
}

bool HasStopped(const Net& net) {
  return net.size() - LastGrowthOf(net) >= kQuietFactor * LongestWait(net);
}

// The sum of what [begin, end) adds where it grows, and how often it does.
struct GrowthPart {
  std::int64_t sum = 0;
  std::int64_t most = 0;  // at once
  std::int64_t times = 0;
};

GrowthPart GrowthIn(Net::const_iterator begin, Net::const_iterator end) {
  GrowthPart part;
  for (; begin != end; ++begin) {
    if (!IsGrowth(*begin)) continue;
    part.sum += *begin;
    part.most = std::max(part.most, *begin);
    ++part.times;
  }
  return part;
}

// Growth that comes ever more seldom, and by ever less, is that of a cache that fills up. What is
// added once in the beginning does not hide what is added all the while.
bool Fades(const Net& net) {
  constexpr std::int64_t kFactor = 3;
  const auto middle = net.begin() + std::ssize(net) / 2;
  const GrowthPart early = GrowthIn(net.begin(), middle);
  const GrowthPart late = GrowthIn(middle, net.end());
  return late.times * kFactor < early.times && late.sum * kFactor < early.sum - early.most;
}

// REQUIRES: no value is negative.
Growth ClassifyRising(const Net& net, SeriesLength length) {
  const bool is_open = length == SeriesLength::kOpen;
  if (is_open && net.size() < kLeast) return Growth::kIrregular;
  if (OnlyShrinks(net)) return Growth::kNone;
  if (HasStopped(net)) return Growth::kBounded;
  if (is_open && net.size() < kLong) return Growth::kIrregular;
  const auto middle = net.begin() + std::ssize(net) / 2;
  const auto early = std::count_if(net.begin(), middle, IsGrowth);
  const auto late = std::count_if(middle, net.end(), IsGrowth);
  if (early == 0 || late == 0 || Fades(net)) return Growth::kIrregular;
  return is_open && late == 1 ? Growth::kIrregular : Growth::kSteady;
}

struct Extremes {
  std::int64_t least = 0;
  std::int64_t most = 0;
};

Extremes ExtremesOf(const Net& levels, std::size_t begin, std::size_t end) {
  const auto [least, most] =
      std::minmax_element(levels.begin() + static_cast<std::ptrdiff_t>(begin),
                          levels.begin() + static_cast<std::ptrdiff_t>(end));
  return {*least, *most};
}

// REQUIRES: `levels` has at least four.
bool RisesInEachQuarter(const Net& levels) {
  const std::size_t size = levels.size();
  Extremes before = ExtremesOf(levels, 0, size / 4);
  for (std::size_t quarter = 1; quarter < 4; ++quarter) {
    const Extremes now = ExtremesOf(levels, quarter * size / 4, (quarter + 1) * size / 4);
    if (now.least <= before.least || now.most <= before.most) return false;
    before = now;
  }
  return true;
}

// What goes up and down grows if it does in each quarter. It is bounded if its second half rises
// above the first by less than it falls back.
Growth ClassifyMoving(const Net& net, SeriesLength length) {
  if (length == SeriesLength::kOpen && net.size() < kLong) return Growth::kIrregular;
  if (OnlyShrinks(net)) return Growth::kNone;
  constexpr std::size_t kFewest = 16;
  if (net.size() < kFewest) return Growth::kIrregular;
  Net levels(net.size());
  std::partial_sum(net.begin(), net.end(), levels.begin());
  if (RisesInEachQuarter(levels) && !Fades(net)) return Growth::kSteady;
  const Extremes early = ExtremesOf(levels, 0, levels.size() / 2);
  const Extremes late = ExtremesOf(levels, levels.size() / 2, levels.size());
  const std::int64_t rise = late.most - early.most;
  return rise <= 0 || rise < late.most - late.least ? Growth::kBounded : Growth::kIrregular;
}

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
  to.is_built_once = to.is_built_once && from.is_built_once;
}

Growth ClassifyGrowth(const Net& net, SeriesLength length) {
  if (net.empty()) return Growth::kIrregular;
  if (length == SeriesLength::kShort) return ClassifyShort(net);
  return GoesUpAndDown(net) ? ClassifyMoving(net, length) : ClassifyRising(net, length);
}

Growth ClassifyGrowth(const RepetitionSeries& series, SeriesLength length) {
  const Growth blocks = ClassifyGrowth(series.blocks, length);
  const Growth bytes = ClassifyGrowth(series.bytes, length);
  const Growth worse = RankOf(bytes) > RankOf(blocks) ? bytes : blocks;
  const bool is_too_short =
      length == SeriesLength::kShort && worse == Growth::kBounded && GrowsWithoutBlocks(series);
  return is_too_short ? Growth::kIrregular : worse;
}

std::size_t LastGrowth(const RepetitionSeries& series) {
  return std::max(LastGrowthOf(series.blocks), LastGrowthOf(series.bytes));
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
