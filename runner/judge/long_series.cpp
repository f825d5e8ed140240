#include "runner/judge/long_series.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace leakgate {
namespace {

using Net = std::vector<std::int64_t>;

constexpr std::size_t kLongLooks = 63;
constexpr std::size_t kLeastLooks = kLongLooks / 2;

// How much longer than any wait for growth before it a stretch without growth must be to show that
// it has stopped.
constexpr std::size_t kQuietFactor = 3;

// Growth that is more seldom than each repetition has to be of so many entries, or to last so many
// times as long.
constexpr std::int64_t kManyEntries = 1000;
constexpr std::size_t kLonger = 8;
// Of threads and descriptors there are not so many more by chance, however few repetitions.
constexpr std::int64_t kManyOfFew = 200;

bool Rises(std::int64_t net) { return net > 0; }

std::size_t LongestWaitForRise(const Net& net) {
  std::size_t longest = 0;
  std::size_t last = 0;
  for (std::size_t i = 0; i < net.size(); ++i) {
    if (!Rises(net[i])) continue;
    longest = std::max(longest, i + 1 - last);
    last = i + 1;
  }
  return longest;
}

// What the looks from `begin` to `end` add where they rise.
struct Rise {
  std::int64_t sum = 0;
  std::int64_t times = 0;
};

Rise RiseIn(const Net& net, std::size_t begin, std::size_t end) {
  Rise rise;
  for (std::size_t i = begin; i < end; ++i) {
    if (!Rises(net[i])) continue;
    rise.sum += net[i];
    ++rise.times;
  }
  return rise;
}

// The second quarter and the second half: of what grows all the while, the half has twice as much.
struct Octaves {
  Rise early;
  Rise late;
};

Octaves OctavesOf(const Net& net) {
  const std::size_t size = net.size();
  return {RiseIn(net, size / 4, size / 2), RiseIn(net, size / 2, size)};
}

// A container that has more room each time by a factor: the last three times it grew are as far
// apart as that, and so are the amounts.
bool GrowsByAFactor(const Net& net) {
  std::vector<std::size_t> at;
  for (std::size_t i = 0; i < net.size(); ++i) {
    if (Rises(net[i])) at.push_back(i);
  }
  if (at.size() < 3 || at.back() < net.size() / 4) return false;
  for (std::size_t k = at.size() - 2; k < at.size(); ++k) {
    const double further = static_cast<double>(at[k] + 1) / static_cast<double>(at[k - 1] + 1);
    const double more = static_cast<double>(net[at[k]]) / static_cast<double>(net[at[k - 1]]);
    if (further < 1.25 || further > 3.5 || more < 1.2 || more > 4) return false;
  }
  return true;
}

// Threads or descriptors.
bool AreFew(const SeriesScale& scale) { return scale.beyond < kBeyondBounds; }

bool IsBeyond(const Net& net, const SeriesScale& scale) {
  const std::size_t repetitions = net.size() * scale.stride;
  const std::int64_t sum = std::accumulate(net.begin(), net.end(), std::int64_t{0});
  const bool are_few = AreFew(scale);
  if (are_few && sum >= kManyOfFew) return true;
  if (sum >= (net.size() >= kLongLooks ? scale.huge : 4 * scale.huge)) return true;
  if (repetitions < scale.beyond) return false;
  const auto rises = std::count_if(net.begin(), net.end(), Rises);
  if (scale.is_seldom && !are_few) return scale.entries.value_or(rises) >= kManyEntries;
  if (are_few || repetitions >= kLonger * scale.beyond) return true;
  return scale.entries.value_or(rises * static_cast<std::int64_t>(scale.stride)) >= kManyEntries;
}

// Threads that end by themselves grow by one each time, until as many end as are started.
bool MayEnd(const Net& net) {
  const auto half = net.begin() + std::ssize(net) / 2;
  const std::int64_t late = std::accumulate(half, net.end(), std::int64_t{0});
  return late < RiseIn(net, 0, net.size() / 4).times;
}

// What takes so much memory that few repetitions have room shows in those.
bool IsHugeEachTime(const Net& net, const SeriesScale& scale) {
  constexpr std::size_t kFewest = 5;
  return net.size() >= kFewest && std::all_of(net.begin(), net.end(), Rises) &&
         std::accumulate(net.begin(), net.end(), std::int64_t{0}) >= scale.huge;
}

// A few rises, by little of what there is, are those of a buffer that is kept at its largest.
bool IsLittle(const Octaves& octaves, std::int64_t level) {
  constexpr std::int64_t kFew = 6;
  constexpr std::int64_t kPart = 16;
  return octaves.early.times + octaves.late.times <= kFew &&
         (octaves.early.sum + octaves.late.sum) * kPart <= level;
}

// Returns whether a block that grew by more each time has had its time to grow once more. Its room
// is for as many entries as it has had, or more, and they may have come by chance.
bool HasUsedItsRoom(const Net& net, std::size_t last, const SeriesScale& scale, bool is_final) {
  std::int64_t most = 0;
  for (std::size_t i = 0; i + 1 < last; ++i) most = std::max(most, net[i]);
  const bool grows_by_less = net[last - 1] < most;
  const bool was_long = net.size() * scale.stride >= kBeyondBounds;
  const std::size_t longer = !is_final ? 7 : was_long ? 1 : 3;
  return grows_by_less || net.size() - last >= longer * last;
}

// REQUIRES: it rises somewhere, and never falls.
Growth ClassifyRisingLong(const Net& net, const SeriesScale& scale, bool is_final) {
  const std::size_t last = LastRiseOf(net);
  const std::size_t quiet = net.size() - last;
  const bool may_have_stopped = !scale.is_of_block || HasUsedItsRoom(net, last, scale, is_final);
  if (HasStopped(net) && may_have_stopped && (is_final || quiet >= last)) return Growth::kBounded;
  if (is_final && IsHugeEachTime(net, scale)) return Growth::kSteady;
  if (!is_final && net.size() < kLongLooks) return Growth::kIrregular;
  const Octaves octaves = OctavesOf(net);
  const bool is_beyond = IsBeyond(net, scale);
  if (GrowsByAFactor(net)) return is_beyond ? Growth::kSteady : Growth::kIrregular;
  const std::int64_t level = scale.level + std::accumulate(net.begin(), net.end(), std::int64_t{0});
  const bool was_long = net.size() * scale.stride >= scale.beyond;
  const bool are_few = AreFew(scale);
  if (was_long && !are_few && IsLittle(octaves, level)) return Growth::kBounded;
  // Seldom growth shows by its times alone: twice is no chance where it was once before.
  constexpr std::int64_t kSeldom = 8;
  if (octaves.late.times == 0) return Growth::kIrregular;
  const bool fades =
      octaves.late.sum * 2 < octaves.early.sum && octaves.late.times * 2 < octaves.early.times * 3;
  if (fades) return was_long ? Growth::kBounded : Growth::kIrregular;
  const bool lasts = octaves.late.sum * 5 >= octaves.early.sum * 8 || octaves.early.sum == 0;
  const bool is_certain = are_few ? !MayEnd(net) : octaves.late.times >= kSeldom;
  return lasts && is_certain && is_beyond ? Growth::kSteady : Growth::kIrregular;
}

constexpr std::size_t kParts = 8;

// The means of the parts of what follows the first quarter, in which it is filled.
std::array<double, kParts> MeansOf(const Net& levels) {
  std::array<double, kParts> means{};
  const std::size_t from = levels.size() / 4;
  const std::size_t size = levels.size() - from;
  for (std::size_t part = 0; part < kParts; ++part) {
    const auto begin = levels.begin() + static_cast<std::ptrdiff_t>(from + part * size / kParts);
    const auto end =
        levels.begin() + static_cast<std::ptrdiff_t>(from + (part + 1) * size / kParts);
    means[part] = std::accumulate(begin, end, 0.0) / static_cast<double>(end - begin);
  }
  return means;
}

// The line through the means.
struct Trend {
  double slope = 0;
  double error = 0;  // of the slope, by how far they are off the line
};

Trend TrendOf(const std::array<double, kParts>& means) {
  const double middle = (kParts - 1) / 2.0;
  const double mean = std::accumulate(means.begin(), means.end(), 0.0) / kParts;
  double xx = 0;
  double xy = 0;
  for (std::size_t i = 0; i < kParts; ++i) {
    const double x = static_cast<double>(i) - middle;
    xx += x * x;
    xy += x * (means[i] - mean);
  }
  const double slope = xy / xx;
  double off = 0;
  for (std::size_t i = 0; i < kParts; ++i) {
    const double error = means[i] - mean - slope * (static_cast<double>(i) - middle);
    off += error * error;
  }
  return {slope, std::sqrt(off / (kParts - 2) / xx)};
}

// The part of all that it had risen by that it fell back by afterwards, from 0 to 1.
double FallsBackBy(const Net& levels) {
  std::int64_t most = 0;
  std::int64_t fall = 0;
  for (const std::int64_t level : levels) {
    most = std::max(most, level);
    fall = std::max(fall, most - level);
  }
  return most == 0 ? 1 : static_cast<double>(fall) / static_cast<double>(most);
}

// By the end it has come back, more than once, to what the first repetition left.
bool ReturnsToBegin(const Net& levels) {
  const auto from = levels.begin() + static_cast<std::ptrdiff_t>(levels.size() / 4 * 3);
  return std::count_if(from, levels.end(), [](std::int64_t level) { return level <= 0; }) >= 3;
}

// Again and again it has come back to its least, as the level of something that grows does not,
// over as many repetitions as are enough of what never grew. Tells few repetitions of a slow test.
bool ComesBackToLeast(const Net& levels) {
  constexpr std::int64_t kTimes = 3;
  const std::size_t over = std::max<std::size_t>(5, levels.size() / 2);
  std::int64_t least = 0;  // what there was after the first repetition
  for (const std::int64_t level : levels) least = std::min(least, level);
  std::size_t first = 0;
  std::size_t last = 0;
  std::size_t longest = 0;  // between two of them
  std::int64_t times = least == 0 ? 1 : 0;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    if (levels[i] != least) continue;
    if (++times == 1) {
      first = i + 1;
    } else {
      longest = std::max(longest, i + 1 - last);
    }
    last = i + 1;
  }
  return times >= kTimes && last - first >= over && levels.size() - last <= longest;
}

double MeanOf(const Net& levels, std::size_t begin, std::size_t end) {
  const auto first = levels.begin() + static_cast<std::ptrdiff_t>(begin);
  const auto last = levels.begin() + static_cast<std::ptrdiff_t>(end);
  return std::accumulate(first, last, 0.0) / static_cast<double>(end - begin);
}

// It has left each level behind, by more and more: as a container that doubles, beside what goes up
// and down.
bool LeavesLevelsBehind(const Net& levels) {
  const std::size_t size = levels.size();
  const auto at = [&](std::size_t index) {
    return levels.begin() + static_cast<std::ptrdiff_t>(index);
  };
  const std::int64_t most_early = *std::max_element(at(size / 8), at(size / 4));
  const std::int64_t least_late = *std::min_element(at(size / 2), levels.end());
  if (least_late <= most_early) return false;
  const double early = MeanOf(levels, size / 8, size / 4);
  const double middle = MeanOf(levels, size / 4, size / 2);
  const double late = MeanOf(levels, size / 2, size);
  return middle > early && late - middle >= 1.2 * (middle - early);
}

// REQUIRES: it rises somewhere, and falls somewhere.
Growth ClassifyMovingLong(const Net& net, const SeriesScale& scale, SeriesLength length) {
  constexpr std::size_t kFewest = 16;
  Net levels(net.size());
  std::partial_sum(net.begin(), net.end(), levels.begin());
  const bool are_few = length != SeriesLength::kOpen && net.size() < kLongLooks;
  if (are_few && ComesBackToLeast(levels)) return Growth::kBounded;
  const bool is_final = length == SeriesLength::kFinal;
  if (net.size() < (is_final ? kFewest : kLongLooks)) return Growth::kIrregular;
  if (net.size() >= kLongLooks && ReturnsToBegin(levels)) return Growth::kBounded;
  const std::array<double, kParts> means = MeansOf(levels);
  const Trend trend = TrendOf(means);
  std::size_t falls = 0;
  for (std::size_t i = 1; i < kParts; ++i) {
    if (means[i] <= means[i - 1]) ++falls;
  }
  constexpr double kSteep = 8;
  constexpr double kFlat = 2.5;
  const bool may_be_full = FallsBackBy(levels) >= 0.5;
  const auto is_steeper = [&](double times) { return trend.slope > times * trend.error; };
  if (falls == 0 && is_steeper(kSteep) && !may_be_full) {
    // Where a cache fills up, the means rise by ever less.
    const double early = means[kParts / 2 - 1] - means[0];
    const double late = means[kParts - 1] - means[kParts / 2];
    if (late * 5 < early * 3) return Growth::kIrregular;
    if (AreFew(scale) && MayEnd(net)) return Growth::kIrregular;
    return IsBeyond(net, scale) ? Growth::kSteady : Growth::kIrregular;
  }
  // Nothing that was filled by then looks so.
  const bool is_past_filling = net.size() * scale.stride >= 3 * scale.beyond;
  if (net.size() >= kLongLooks && LeavesLevelsBehind(levels)) {
    return is_past_filling && IsBeyond(net, scale) ? Growth::kSteady : Growth::kIrregular;
  }
  const bool was_long = net.size() * scale.stride >= scale.beyond;
  const auto [least, most] = std::minmax_element(
      levels.begin() + static_cast<std::ptrdiff_t>(levels.size() / 4), levels.end());
  const double rise = (trend.slope + 2 * trend.error) * (kParts - 1);
  // However it goes on, it rises by less than it goes up and down anyway.
  const bool is_told = rise <= 0.35 * static_cast<double>(*most - *least);
  const bool is_flat = falls >= 2 && !is_steeper(kFlat);
  if (is_flat && (is_final || (was_long && is_told))) return Growth::kBounded;
  if (!is_final || !may_be_full) return Growth::kIrregular;
  return is_steeper(kSteep) ? Growth::kIrregular : Growth::kBounded;
}

}  // namespace

bool OnlyShrinks(const Net& net) { return std::none_of(net.begin(), net.end(), Rises); }

bool GoesUpAndDown(const Net& net) {
  return std::any_of(net.begin(), net.end(), [](std::int64_t value) { return value < 0; });
}

std::size_t LastRiseOf(const Net& net) {
  const auto last = std::find_if(net.rbegin(), net.rend(), Rises);
  return static_cast<std::size_t>(net.rend() - last);
}

bool HasStopped(const Net& net) {
  return net.size() - LastRiseOf(net) >= kQuietFactor * LongestWaitForRise(net);
}

Growth ClassifyLong(const Net& net, const SeriesScale& scale, SeriesLength length) {
  const bool is_open = length == SeriesLength::kOpen;
  if (net.empty()) return Growth::kIrregular;
  if (is_open && net.size() < kLeastLooks) return Growth::kIrregular;
  if (OnlyShrinks(net)) return Growth::kNone;
  return GoesUpAndDown(net) ? ClassifyMovingLong(net, scale, length)
                            : ClassifyRisingLong(net, scale, !is_open);
}

}  // namespace leakgate
