#include "runner/judge/repetition_series.h"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace leakgate {
namespace {

using Series = std::vector<std::int64_t>;
using Position = Series::const_iterator;

std::int64_t Sum(Position begin, Position end) {
  return std::accumulate(begin, end, std::int64_t{0});
}

// How many repetitions without growth show that it has stopped.
constexpr std::ptrdiff_t kQuiet = 2;

// It grew at first, and then no more.
bool HasStopped(const Series& series) {
  const auto last =
      std::find_if(series.rbegin(), series.rend(), [](std::int64_t net) { return net > 0; }).base();
  const bool grew_until_then =
      std::all_of(series.begin(), last, [](std::int64_t net) { return net > 0; });
  return grew_until_then && series.end() - last >= kQuiet;
}

}  // namespace

Growth ClassifyGrowth(const Series& series) {
  if (series.empty()) return Growth::kIrregular;
  if (std::all_of(series.begin(), series.end(), [](std::int64_t net) { return net <= 0; })) {
    return Growth::kNone;
  }
  if (std::all_of(series.begin(), series.end(), [](std::int64_t net) { return net > 0; })) {
    return Growth::kSteady;
  }
  return HasStopped(series) ? Growth::kBounded : Growth::kIrregular;
}

Growth ClassifyLongGrowth(const Series& series) {
  if (series.empty()) return Growth::kIrregular;
  const Position middle = series.begin() + std::ssize(series) / 2;
  const bool grew_early = Sum(series.begin(), middle) > 0;
  const bool grew_late = Sum(middle, series.end()) > 0;
  if (grew_early && grew_late) return Growth::kSteady;
  return grew_early || grew_late ? Growth::kBounded : Growth::kNone;
}

}  // namespace leakgate
