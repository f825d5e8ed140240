#include "runner/run/freed_in_time.h"

#include <algorithm>

#include "runner/attribution/call_sites.h"
#include "runner/judge/pause.h"
#include "runner/run/asked_stacks.h"
#include "runner/run/sum_of_test.h"

namespace leakgate {
namespace {

// A thread that ends in time frees what it holds, of which few repetitions were seen: more of them
// might have had too many threads.
bool MayGoInTime(const Finding& finding, bool leaves_threads) {
  if (finding.disposition == Disposition::kSteady) return !finding.is_lost_each_time;
  return leaves_threads && finding.disposition == Disposition::kUnconfirmed &&
         !finding.series.empty() && !IsLost(finding.reach);
}

template <typename Do>
void ForEachGrowing(WindowResult& window, Do act) {
  const bool leaves_threads = LeavesThreads(window);
  for (std::vector<Finding>* const findings : {&window.findings, &window.mappings}) {
    for (Finding& finding : *findings) {
      if (MayGoInTime(finding, leaves_threads)) act(finding);
    }
  }
}

template <typename Is>
bool AnyGrowing(const WindowResult& window, Is is) {
  const auto is_one = [&, leaves_threads = LeavesThreads(window)](const Finding& finding) {
    return MayGoInTime(finding, leaves_threads) && is(finding);
  };
  return std::any_of(window.findings.begin(), window.findings.end(), is_one) ||
         std::any_of(window.mappings.begin(), window.mappings.end(), is_one);
}

std::size_t CyclesIn(const SoFar& so_far) {
  if (so_far.series.empty() || so_far.series.begin()->second.empty()) return 0;
  return so_far.series.begin()->second.begin()->second.blocks.size() / kLooksOfCycle;
}

RepetitionSeries AllOf(const SeriesByStack& site) {
  RepetitionSeries all;
  for (const auto& [stack, series] : site) AddSeries(series, all);
  return all;
}

// Returns the long series of the window's test; null if there is none.
const RepetitionResult* LongSeriesOf(const WindowResult& window, const BeforePauses& before) {
  const auto outcome = before.outcomes.find(window.name);
  if (outcome == before.outcomes.end() || !outcome->second.longer) return nullptr;
  return &*outcome->second.longer;
}

// A block that grows moves from stack to stack, and is freed of each: so the sum counts, too. Of
// one cycle, the sum alone tells whether anything is freed in time.
FreedInTime FreedOf(const SoFar& so_far, const WindowResult& window, const Finding& finding,
                    const BeforePauses& before) {
  const RepetitionResult* const earlier = LongSeriesOf(window, before);
  const auto sum = so_far.by_test.find(window.name);
  const bool has_sum = !IsMapped(finding) && sum != so_far.by_test.end();
  const FreedInTime of_sum =
      has_sum
          ? JudgePauses(sum->second.all.total,
                        earlier != nullptr ? GrowthIn(earlier->all.total, before.each) : Amount{})
          : FreedInTime::kUnseen;
  const bool any_stays =
      has_sum && std::any_of(sum->second.all.shares.begin(), sum->second.all.shares.end(),
                             [](const GrowthShare& share) { return Stays(share.series); });
  if (any_stays) return FreedInTime::kNot;
  const SeriesBySite& series = has_sum ? sum->second.series : so_far.series;
  const auto site = series.find(SeriesKey(finding));
  if (site == series.end() || (has_sum && CyclesIn(so_far) < 2)) return of_sum;
  const SeriesByStack of_site = earlier != nullptr && earlier->series.contains(site->first)
                                    ? earlier->series.at(site->first)
                                    : SeriesByStack();
  const FreedInTime freed =
      LessOf(of_sum, JudgePauses(AllOf(site->second), GrowthIn(AllOf(of_site), before.each)));
  const auto own = site->second.find(CallStackKey(finding));
  const bool grows_by_itself =
      earlier != nullptr &&
      IsSteadyByItself(earlier->series, AskedOf(finding), SeriesLength::kFinal);
  if (own == site->second.end() || !grows_by_itself) return freed;
  const auto own_earlier = of_site.find(own->first);
  return LessOf(freed, JudgePauses(own->second, own_earlier != of_site.end()
                                                    ? GrowthIn(own_earlier->second, before.each)
                                                    : Amount{}));
}

// n and m of judge/pause.h, for tests that take `once` and keep `bytes` together. Threads stay few,
// for a process may not have thousands.
RepetitionPauses PausesFor(std::chrono::nanoseconds once, std::int64_t bytes, bool leaves_threads) {
  constexpr std::chrono::seconds kEach(1);
  const std::int64_t times =
      std::min<std::int64_t>(kEach / std::max(once, std::chrono::nanoseconds(1)),
                             kMuchMemory / std::max(bytes, std::int64_t{1}));
  const int each = static_cast<int>(std::clamp<std::int64_t>(times, 6, leaves_threads ? 48 : 1000));
  return {.each = each, .more = std::max(1, each / 16)};
}

}  // namespace

bool LeavesThreads(const WindowResult& window) {
  return std::any_of(window.mappings.begin(), window.mappings.end(), [](const Finding& finding) {
    return finding.kind == AllocationKind::kThreadStack &&
           finding.disposition == Disposition::kSteady;
  });
}

bool MayBeFreedInTime(const WindowResult& window, const std::set<std::string>& lasting) {
  if (window.kind != WindowKind::kTest || window.verdict != Verdict::kOverBudget) return false;
  return AnyGrowing(window,
                    [&](const Finding& finding) { return !lasting.contains(SeriesKey(finding)); });
}

RepetitionRequest PauseRequestFor(const RepetitionSetup& setup, const ConfirmationLimits& limits,
                                  const std::vector<WindowResult*>& windows) {
  RepetitionRequest request;
  std::chrono::nanoseconds once{};
  std::int64_t bytes = 0;
  std::set<std::string> names;
  bool leaves_threads = false;
  for (WindowResult* const window : windows) {
    ForEachGrowing(*window,
                   [&](const Finding& finding) { request.call_sites.insert(SeriesKey(finding)); });
    request.may_fail = request.may_fail || window->status != TestStatus::kPassed;
    leaves_threads = leaves_threads || LeavesThreads(*window);
    if (!names.insert(window->name).second) continue;
    if (CountsInSum counts = CountsFor(setup, *window)) {
      request.counts_by_test[window->name] = std::move(counts);
    }
    once += window->end - window->begin;
    bytes += window->outstanding.bytes;
  }
  request.tests.assign(names.begin(), names.end());
  request.pauses = PausesFor(once, bytes, leaves_threads);
  request.pauses->time = limits.wait;
  request.once = once;
  request.repetitions = CountRepetitions(*request.pauses);
  request.timeout = limits.test + kCyclePercent.size() * limits.wait;
  return request;
}

bool HasPaused(const RepetitionResult& result) {
  return CyclesIn({result.series, result.all, result.by_test}) != 0;
}

bool IsToldByPauses(const SoFar& so_far, const WindowResult& window, const BeforePauses& before) {
  return !AnyGrowing(window, [&](const Finding& finding) {
    return FreedOf(so_far, window, finding, before) == FreedInTime::kPartly;
  });
}

bool ApplyPauses(const SoFar& so_far, const BeforePauses& before, WindowResult& window,
                 std::set<std::string>& lasting) {
  bool has_seen_threads = true;
  ForEachGrowing(window, [&](Finding& finding) {
    switch (FreedOf(so_far, window, finding, before)) {
      case FreedInTime::kMostly:
        finding.disposition = Disposition::kBounded;
        finding.explanation += ", but it is freed in time";
        break;
      case FreedInTime::kPartly:
        if (finding.disposition == Disposition::kUnconfirmed) break;
        finding.disposition = Disposition::kUnconfirmed;
        finding.explanation += ", but some of it is freed in time";
        break;
      case FreedInTime::kNot:
        lasting.insert(SeriesKey(finding));
        break;
      case FreedInTime::kUnseen:
        if (finding.kind == AllocationKind::kThreadStack) has_seen_threads = false;
        break;
    }
  });
  return has_seen_threads;
}

void DoubtUnseenThreads(WindowResult& window) {
  for (Finding& finding : window.mappings) {
    const bool grows = finding.disposition == Disposition::kSteady;
    if (finding.kind != AllocationKind::kThreadStack || !grows) continue;
    finding.disposition = Disposition::kUnconfirmed;
    finding.explanation += ", but not when the test was repeated once more";
  }
}

}  // namespace leakgate
