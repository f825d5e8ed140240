#include "runner/run/series_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "runner/attribution/call_sites.h"
#include "runner/attribution/framework_rules.h"
#include "runner/judge/all_growth.h"
#include "runner/region/amount.h"

namespace leakgate {
namespace {

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

void ApplyExcuse(const JudgedSeries& first, const std::string* queue, Finding& finding) {
  ApplySeries(first, SeriesLength::kShort, finding);
  finding.disposition = queue != nullptr ? Disposition::kUnconfirmed : Disposition::kOneTime;
  finding.explanation =
      queue == nullptr
          ? "what keeps it is made by a set-up, which ran anew for each repetition and left the "
            "old one"
          : fmt::format("each repetition puts more of it into {}, and takes none out", *queue);
}

void ApplyLost(const JudgedSeries& first, const std::string& led_by, Finding& finding) {
  ApplySeries(first, SeriesLength::kShort, finding);
  finding.disposition = Disposition::kSteady;
  finding.is_lost_each_time = true;
  // What a variable holds is lost by what overwrites that, whatever else led to it.
  const bool is_told_with = !finding.is_held_by_global && led_by != CallStackKey(finding);
  finding.led_by = is_told_with ? led_by : std::string();
  finding.explanation =
      fmt::format("in {} repetitions it grew by {}: each loses what the one before had made",
                  CountRepetitions(first.series), GrownText(first.series, finding.kind));
}

void ApplyLonger(const RepetitionResult& result, const JudgedSeries& judged, Finding& finding) {
  ApplySeries(judged, SeriesLength::kFinal, finding);
  const bool is_made_up_for = finding.disposition == Disposition::kSteady && !IsMapped(finding) &&
                              IsMadeUpFor(result.all, judged.series);
  if (!is_made_up_for) return;
  finding.disposition = Disposition::kUnconfirmed;
  finding.explanation += ", but as much was freed of what other call sites had made before";
}

void ApplyFirst(const JudgedSeries& judged, const std::optional<RepetitionResult>& longer,
                Finding& finding) {
  ApplySeries(judged, SeriesLength::kShort, finding);
  const bool was_told = judged.growth != Growth::kSteady && judged.growth != Growth::kIrregular;
  if (was_told) return;
  finding.disposition = Disposition::kUnconfirmed;
  if (!longer) return;
  finding.explanation = fmt::format("in {} repetitions it grew by {}; for longer, {}",
                                    CountRepetitions(judged.series),
                                    GrownText(judged.series, finding.kind), longer->problem);
}

// Returns the stacks of which a finding of the window tells whether they grow.
std::set<std::string> StacksThatAreTold(const WindowResult& window) {
  std::set<std::string> told;
  for (const std::vector<Finding>* const findings : {&window.findings, &window.mappings}) {
    for (const Finding& finding : *findings) {
      const bool is_told = IsToBeRepeated(window, finding) ||
                           finding.disposition == Disposition::kAllowed ||
                           finding.disposition == Disposition::kKnown;
      if (is_told) told.insert(CallStackKey(finding));
    }
  }
  return told;
}

// Judges as JudgeAsked does. Repeated, the stack of a finding may leave nothing, as an array of
// which another test has made room for more: other stacks of its line, of which a finding of their
// own tells whether they grow, say nothing of it.
std::optional<JudgedSeries> JudgeOwn(const SeriesBySite& series, const AskedStack& asked,
                                     const std::set<std::string>& told, SeriesLength length) {
  const auto site = series.find(asked.site);
  if (site == series.end() || site->second.contains(asked.stack)) {
    return JudgeAsked(series, asked, length);
  }
  SeriesByStack untold = site->second;
  std::erase_if(untold, [&](const auto& one) { return told.contains(one.first); });
  if (!untold.empty()) return JudgeStack(untold, asked.stack, length);
  JudgedSeries none{Growth::kNone, site->second.begin()->second, false};
  none.series.is_built_once = false;
  for (std::vector<std::int64_t>* const net : {&none.series.blocks, &none.series.bytes,
                                               &none.series.told_blocks, &none.series.told_bytes}) {
    std::fill(net->begin(), net->end(), 0);
  }
  return none;
}

void ApplyToFinding(const TestOutcome& outcome, const std::set<std::string>& told,
                    Finding& finding) {
  const RepetitionResult& first = outcome.first;
  if (!first.problem.empty()) {
    finding.explanation = first.problem;
    return;
  }
  const AskedStack asked = AskedOf(finding);
  const auto judged = JudgeOwn(first.series, asked, told, SeriesLength::kShort);
  if (judged && outcome.excused.contains(asked)) {
    const auto queue = first.fates.queued.find(asked.stack);
    return ApplyExcuse(*judged, queue != first.fates.queued.end() ? &queue->second : nullptr,
                       finding);
  }
  if (judged && outcome.lost.contains(asked)) {
    return ApplyLost(*judged, first.fates.lost.at(asked.stack), finding);
  }
  const RepetitionResult* const longer = outcome.FindLonger();
  const auto judged_longer = longer != nullptr
                                 ? JudgeOwn(longer->series, asked, told, SeriesLength::kFinal)
                                 : std::nullopt;
  if (judged_longer) {
    ApplyLonger(*longer, *judged_longer, finding);
  } else if (judged) {
    ApplyFirst(*judged, outcome.longer, finding);
  } else {
    finding.explanation = "run alone, the test leaves nothing of this call site";
  }
  const bool may_still_go = finding.kind == AllocationKind::kThreadStack &&
                            finding.disposition == Disposition::kSteady &&
                            !(judged_longer && IsCertain(judged_longer->series));
  if (may_still_go) finding.disposition = Disposition::kUnconfirmed;
}

// Appends the first names, and how many more there are.
void NameDescriptors(const std::vector<std::string>& names, std::vector<std::string>& lines) {
  constexpr std::size_t kMostNames = 10;
  std::size_t count = 0;
  for (const std::string& name : names) {
    if (!name.starts_with("file descriptor") || ++count > kMostNames) continue;
    lines.push_back(name);
  }
  if (count <= kMostNames) return;
  const auto more = static_cast<std::int64_t>(count - kMostNames);
  lines.push_back(fmt::format("{} more", FormatCount(more, "file descriptor")));
}

void ApplyToDescriptors(const RepetitionResult* longer, WindowResult& window) {
  if (window.descriptor_growth != DescriptorGrowth::kUnconfirmed || longer == nullptr) return;
  const auto judged = JudgeAsked(longer->series, AskedDescriptors(), SeriesLength::kFinal);
  if (!judged || judged->growth != Growth::kSteady || !IsCertain(judged->series)) return;
  window.descriptor_growth = DescriptorGrowth::kGrows;
  window.file_descriptors = std::max<std::int64_t>(longer->descriptors_left.file_descriptors, 1);
  NameDescriptors(longer->descriptors_left.names, window.left_behind);
}

}  // namespace

std::optional<JudgedSeries> JudgeAsked(const SeriesBySite& series, const AskedStack& asked,
                                       SeriesLength length) {
  const auto site = series.find(asked.site);
  if (site == series.end()) return std::nullopt;
  return JudgeStack(site->second, asked.stack, length);
}

bool AnyIs(const SoFar& so_far, const AskedStacks& asked, SeriesLength length,
           const std::set<Growth>& wanted) {
  if (wanted.contains(JudgeSum(so_far.all, length).growth)) return true;
  return std::any_of(asked.begin(), asked.end(), [&](const AskedStack& one) {
    const std::optional<JudgedSeries> judged = JudgeAsked(so_far.series, one, length);
    return judged && wanted.contains(judged->growth);
  });
}

bool FirstShows(const TestOutcome& outcome, const std::set<Growth>& wanted) {
  const RepetitionResult& first = outcome.first;
  return AnyIs({first.series, first.all, first.by_test}, outcome.Open(), SeriesLength::kShort,
               wanted);
}

bool NeedsMore(const TestOutcome& outcome) {
  return outcome.first.problem.empty() &&
         FirstShows(outcome, {Growth::kSteady, Growth::kIrregular});
}

bool IsSteadyByItself(const SeriesBySite& series, const AskedStack& asked, SeriesLength length) {
  const std::optional<JudgedSeries> judged = JudgeAsked(series, asked, length);
  return judged && judged->growth == Growth::kSteady && !judged->is_of_all_stacks;
}

AskedStacks FindLostEachTime(const AskedStacks& asked, const RepetitionResult& first) {
  AskedStacks lost;
  for (const AskedStack& one : asked) {
    if (!first.fates.lost.contains(one.stack)) continue;
    if (IsSteadyByItself(first.series, one, SeriesLength::kShort)) lost.insert(one);
  }
  return lost;
}

bool AreFlat(const RepetitionResult& result, const AskedStacks& asked) {
  return std::all_of(asked.begin(), asked.end(), [&](const AskedStack& one) {
    const auto judged = JudgeAsked(result.series, one, SeriesLength::kShort);
    return judged && !judged->is_of_all_stacks && judged->growth == Growth::kNone &&
           DispositionOf(*judged) == Disposition::kOneTime;
  });
}

bool WereBuiltOnce(const RepetitionResult& result, const AskedStacks& asked) {
  const auto is_kept = [&](const AskedStack& one) {
    return result.stacks_freed_later && !result.stacks_freed_later->contains(one.stack);
  };
  return AreFlat(result, asked) && std::all_of(asked.begin(), asked.end(), is_kept);
}

bool GrowsEachTime(const RepetitionSeries& series) {
  return std::all_of(series.blocks.begin(), series.blocks.end(),
                     [](std::int64_t net) { return net > 0; });
}

bool IsCertain(const RepetitionSeries& series) {
  constexpr std::size_t kWhole = 63;
  constexpr std::int64_t kMany = 200;
  return series.blocks.size() * series.stride >= kWhole || GrowthOf(series).blocks >= kMany;
}

void ApplyOutcome(const TestOutcome& outcome, WindowResult& window) {
  const std::set<std::string> told = StacksThatAreTold(window);
  for (std::vector<Finding>* const findings : {&window.findings, &window.mappings}) {
    for (Finding& finding : *findings) {
      if (IsToBeRepeated(window, finding)) ApplyToFinding(outcome, told, finding);
    }
    SortFindings(*findings);
  }
  ApplyToDescriptors(outcome.FindLonger(), window);
}

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
