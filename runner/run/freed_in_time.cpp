#include "runner/run/freed_in_time.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "runner/attribution/call_sites.h"
#include "runner/judge/pause.h"
#include "runner/run/sum_of_test.h"

namespace leakgate {
namespace {

bool MayGoInTime(const Finding& finding) {
  return finding.disposition == Disposition::kSteady &&
         finding.kind != AllocationKind::kThreadStack;
}

template <typename Do>
void ForEachGrowing(WindowResult& window, Do act) {
  for (std::vector<Finding>* const findings : {&window.findings, &window.mappings}) {
    for (Finding& finding : *findings) {
      if (MayGoInTime(finding)) act(finding);
    }
  }
}

template <typename Is>
bool AnyGrowing(const WindowResult& window, Is is) {
  const auto is_one = [&](const Finding& finding) { return MayGoInTime(finding) && is(finding); };
  return std::any_of(window.findings.begin(), window.findings.end(), is_one) ||
         std::any_of(window.mappings.begin(), window.mappings.end(), is_one);
}

// A block that grows moves from stack to stack, and is freed of each: so the sum counts, too.
FreedInTime FreedOf(const SoFar& so_far, std::size_t looks_before, const std::string& test,
                    const Finding& finding) {
  FreedInTime freed = FreedInTime::kUnseen;
  const auto site = so_far.series.find(SeriesKey(finding));
  if (site != so_far.series.end()) {
    RepetitionSeries all;
    for (const auto& [stack, series] : site->second) AddSeries(series, all);
    freed = LessOf(freed, JudgePause(all, looks_before));
    const auto own = site->second.find(CallStackKey(finding));
    if (own != site->second.end()) freed = LessOf(freed, JudgePause(own->second, looks_before));
  }
  const auto sum = so_far.by_test.find(test);
  if (IsMapped(finding) || sum == so_far.by_test.end()) return freed;
  return LessOf(freed, JudgePause(sum->second.total, looks_before));
}

// How often all tests are repeated before the pause, and after it: together fewer times than there
// are single looks.
struct Counts {
  int before = 0;
  int after = 0;
};

Counts CountsWithin(std::chrono::nanoseconds once) {
  constexpr std::chrono::seconds kAll(2);
  const std::int64_t times = kAll / std::max(once, std::chrono::nanoseconds(1));
  const int all = static_cast<int>(std::clamp<std::int64_t>(times, 9, 112));
  const int after = std::max(2, all / 2);
  return {all - after, after};
}

}  // namespace

bool MayBeFreedInTime(const WindowResult& window, const std::set<std::string>& lasting) {
  if (window.kind != WindowKind::kTest || window.verdict != Verdict::kOverBudget) return false;
  return AnyGrowing(window, [&](const Finding& finding) {
    return !lasting.contains(SeriesKey(finding));
  });
}

RepetitionRequest PauseRequestFor(const RepetitionSetup& setup, const ConfirmationLimits& limits,
                                  const std::vector<WindowResult*>& windows) {
  RepetitionRequest request;
  std::chrono::nanoseconds once{};
  std::set<std::string> names;
  for (WindowResult* const window : windows) {
    ForEachGrowing(*window,
                   [&](const Finding& finding) { request.call_sites.insert(SeriesKey(finding)); });
    request.may_fail = request.may_fail || window->status != TestStatus::kPassed;
    if (!names.insert(window->name).second) continue;
    if (CountsInSum counts = CountsFor(setup, *window)) {
      request.counts_by_test[window->name] = std::move(counts);
    }
    once += window->end - window->begin;
  }
  const Counts counts = CountsWithin(once);
  request.test = fmt::format("{}", fmt::join(names, ":"));
  request.repetitions = counts.before + counts.after;
  request.timeout = limits.test + limits.wait;
  request.pause = {.after = counts.before, .time = limits.wait};
  return request;
}

bool IsAllFreed(const SoFar& so_far, std::size_t looks_before, const WindowResult& window) {
  return !AnyGrowing(window, [&](const Finding& finding) {
    return FreedOf(so_far, looks_before, window.name, finding) != FreedInTime::kMostly;
  });
}

void ApplyPause(const SoFar& so_far, std::size_t looks_before, WindowResult& window,
                std::set<std::string>& lasting) {
  ForEachGrowing(window, [&](Finding& finding) {
    switch (FreedOf(so_far, looks_before, window.name, finding)) {
      case FreedInTime::kMostly:
        finding.disposition = Disposition::kBounded;
        finding.explanation += ", but it is freed in time";
        break;
      case FreedInTime::kPartly:
        finding.disposition = Disposition::kUnconfirmed;
        finding.explanation += ", but some of it is freed in time";
        break;
      case FreedInTime::kNot:
        lasting.insert(SeriesKey(finding));
        break;
      case FreedInTime::kUnseen:
        break;
    }
  });
}

}  // namespace leakgate
