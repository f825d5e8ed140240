#include "runner/run/series_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "runner/attribution/framework_rules.h"
#include "runner/region/amount.h"

namespace leakgate {
namespace {

std::string_view NounOf(AllocationKind kind) {
  if (kind == AllocationKind::kThreadStack) return "thread";
  return kind >= AllocationKind::kMapped ? "mapping" : "block";
}

bool GoesUpAndDown(const RepetitionSeries& series) {
  const auto is_less = [](std::int64_t value) { return value < 0; };
  return std::any_of(series.blocks.begin(), series.blocks.end(), is_less) ||
         std::any_of(series.bytes.begin(), series.bytes.end(), is_less);
}

// What the first five values, which reports show, do not tell.
std::string ExplainLong(const JudgedSeries& judged, AllocationKind kind) {
  const RepetitionSeries& series = judged.series;
  const std::size_t repetitions = CountRepetitions(series);
  const std::string_view all = judged.is_of_all_stacks ? ", all stacks of this line together" : "";
  switch (judged.growth) {
    case Growth::kNone:
      return fmt::format("it does not grow in {} repetitions", repetitions);
    case Growth::kBounded:
      if (GoesUpAndDown(series)) {
        return fmt::format("in {} repetitions it goes up and down", repetitions);
      }
      return fmt::format("it stops growing after repetition {} of {}",
                         LastGrowth(series) * series.stride + 1, repetitions);
    case Growth::kSteady:
      return fmt::format("in {} repetitions it grew by {}{}", repetitions, GrownText(series, kind),
                         all);
    case Growth::kIrregular:
      break;
  }
  const bool grew_always = std::all_of(series.bytes.begin(), series.bytes.end(),
                                       [](std::int64_t net) { return net > 0; });
  return fmt::format("{} in {} repetitions by {}{}",
                     grew_always ? "it grows, but a bound of 1,000 entries is not reached yet:"
                                 : "it grows, but not regularly:",
                     repetitions, GrownText(series, kind), all);
}

// As many as reports tell, one by one.
void SetSeries(const RepetitionSeries& series, Finding& finding) {
  constexpr std::size_t kMostTold = 63;
  const bool is_halved = series.stride > 1;
  finding.series = is_halved ? series.told_blocks : series.blocks;
  finding.series_bytes = is_halved ? series.told_bytes : series.bytes;
  // The last look may be of many repetitions.
  const bool is_last_of_many =
      !finding.series.empty() && series.repetitions > series.blocks.size() + 1;
  const std::size_t told = finding.series.size() - (is_last_of_many ? 1 : 0);
  finding.series.resize(std::min(told, kMostTold));
  finding.series_bytes.resize(std::min(told, kMostTold));
}

}  // namespace

Disposition DispositionOf(const JudgedSeries& judged) {
  const auto changes = [](const std::vector<std::int64_t>& net) {
    return std::any_of(net.begin(), net.end(), [](std::int64_t value) { return value != 0; });
  };
  switch (judged.growth) {
    case Growth::kNone:
      return changes(judged.series.blocks) || changes(judged.series.bytes) ||
                     !judged.series.is_built_once
                 ? Disposition::kBounded
                 : Disposition::kOneTime;
    case Growth::kBounded:
      return Disposition::kBounded;
    case Growth::kSteady:
      return Disposition::kSteady;
    case Growth::kIrregular:
      break;
  }
  return Disposition::kUnconfirmed;
}

std::string GrownText(const RepetitionSeries& series, AllocationKind kind) {
  const std::int64_t blocks = GrowthOf(series).blocks;
  const std::string bytes = FormatBytes(GrowthOf(series).bytes);
  return blocks > 0 ? fmt::format("{}, {}", FormatCount(blocks, NounOf(kind)), bytes) : bytes;
}

void ApplySeries(const JudgedSeries& judged, SeriesLength length, Finding& finding) {
  const Growth growth = judged.growth;
  SetSeries(judged.series, finding);
  finding.disposition = DispositionOf(judged);
  finding.explanation.clear();
  if (length != SeriesLength::kShort) {
    finding.explanation = ExplainLong(judged, finding.kind);
  } else if (growth == Growth::kIrregular) {
    finding.explanation = "it grows, but not regularly";
  } else if (growth == Growth::kNone && !judged.series.is_built_once) {
    finding.explanation = "each repetition replaces it";
  }
  const bool may_be_report = growth == Growth::kSteady && !IsMapped(finding) &&
                             !IsLost(finding.reach) && IsOfTearDown(finding.stack);
  if (may_be_report) {
    finding.disposition = Disposition::kUnconfirmed;
    finding.explanation += ", by a TearDown: as a report does that has an entry for each test";
  }
  const bool has_passed = growth == Growth::kNone || growth == Growth::kBounded;
  if (has_passed && !IsMapped(finding) && finding.reach == Reach::kUnknown) {
    finding.disposition = Disposition::kUnconfirmed;
    finding.explanation = "repeated, it does not grow, but it may be lost: that could not be told";
  }
}

}  // namespace leakgate
