#include "runner/run/confirmation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <exception>
#include <iterator>
#include <numeric>
#include <string_view>
#include <utility>

#include "runner/attribution/call_sites.h"
#include "runner/base/time_limit.h"
#include "runner/judge/repetition_series.h"
#include "runner/judge/window_verdict.h"
#include "runner/region/amount.h"
#include "runner/report/excess.h"
#include "runner/run/freed_in_time.h"
#include "runner/run/run_request.h"
#include "runner/run/series_verdict.h"
#include "runner/run/sum_of_test.h"

namespace leakgate {
namespace {

using Clock = std::chrono::steady_clock;

// Quick tests are repeated more often, which shows what grows more seldom.
constexpr int kMostQuickRepetitions = 20;
constexpr std::chrono::milliseconds kQuickSeries(100);
constexpr int kMostRepetitions = 20'000;
// So that one slow test does not take the time of all. What it has shown until then counts.
constexpr std::chrono::milliseconds kLongestSeries = std::chrono::seconds(20);
constexpr std::size_t kEnoughOfSlow = 24;  // so many can tell that it goes up and down

AskedStack AskedOf(const Finding& finding) {
  return {SeriesKey(finding), CallStackKey(finding), finding.keeper};
}

const AskedStack kAskedDescriptors{kDescriptorsKey, ""};

// The stacks that a finding sums up are not told apart: it stays unconfirmed.
bool IsToBeRepeated(const WindowResult& window, const Finding& finding) {
  return IsToBeConfirmed(window, finding) && finding.other_stacks == 0;
}

std::set<AskedStack> OpenStacks(const WindowResult& window) {
  std::set<AskedStack> open;
  for (const std::vector<Finding>* const findings : {&window.findings, &window.mappings}) {
    for (const Finding& finding : *findings) {
      if (IsToBeRepeated(window, finding)) open.insert(AskedOf(finding));
    }
  }
  if (window.descriptor_growth == DescriptorGrowth::kUnconfirmed) open.insert(kAskedDescriptors);
  return open;
}

std::set<std::string> SitesOf(const std::set<AskedStack>& asked) {
  std::set<std::string> sites;
  for (const AskedStack& one : asked) sites.insert(one.site);
  return sites;
}

// Returns nullopt if the test left nothing of the call site when it was run alone.
std::optional<JudgedSeries> JudgeAsked(const SeriesBySite& series, const AskedStack& asked,
                                       SeriesLength length) {
  const auto site = series.find(asked.site);
  if (site == series.end()) return std::nullopt;
  return JudgeStack(site->second, asked.stack, length);
}

// Returns whether anything that is asked for, or the sum, is one of `wanted`.
bool AnyIs(const SoFar& so_far, const std::set<AskedStack>& asked, SeriesLength length,
           const std::set<Growth>& wanted) {
  if (wanted.contains(JudgeSum(so_far.all, length).growth)) return true;
  return std::any_of(asked.begin(), asked.end(), [&](const AskedStack& one) {
    const std::optional<JudgedSeries> judged = JudgeAsked(so_far.series, one, length);
    return judged && wanted.contains(judged->growth);
  });
}

// Some growth is so seldom, or has so much room, that the first repetitions do not show it. So
// tests that cost next to nothing are repeated for longer, and only the last repetition is looked
// at.
constexpr int kMostUnlooked = 2000;
std::chrono::nanoseconds TimeUnlooked(std::size_t tests) {
  constexpr std::chrono::milliseconds kLeast(3);
  constexpr std::chrono::milliseconds kOfTest(5);
  constexpr std::chrono::milliseconds kMost(250);
  return std::min(kLeast + static_cast<std::int64_t>(tests) * kOfTest, kMost);
}

// By how long the test took in the suite's run.
int CountFirstRepetitions(const WindowResult& window) {
  const auto once = std::max(window.end - window.begin, std::chrono::nanoseconds(1));
  return static_cast<int>(
      std::clamp<std::int64_t>(kQuickSeries / once, kFewestRepetitions, kMostQuickRepetitions));
}

std::set<AskedStack> Without(const std::set<AskedStack>& asked,
                             const std::set<AskedStack>& left_out) {
  std::set<AskedStack> rest;
  std::set_difference(asked.begin(), asked.end(), left_out.begin(), left_out.end(),
                      std::inserter(rest, rest.end()));
  return rest;
}

std::set<std::string> StacksOf(const std::set<AskedStack>& asked) {
  std::set<std::string> stacks;
  for (const AskedStack& one : asked) stacks.insert(one.stack);
  return stacks;
}

std::set<std::string> StacksWithKeepers(const std::set<AskedStack>& asked) {
  std::set<std::string> stacks = StacksOf(asked);
  for (const AskedStack& one : asked) {
    if (!one.keeper.empty()) stacks.insert(one.keeper);
  }
  return stacks;
}

CountsInSum CountsWithout(const std::set<AskedStack>& left_out, CountsInSum counts) {
  if (left_out.empty() || counts == nullptr) return counts;
  return [stacks = StacksOf(left_out), counts = std::move(counts)](const Finding& finding) {
    return !stacks.contains(CallStackKey(finding)) && counts(finding);
  };
}

// Returns those whose growth proves nothing against the test.
// - What a set-up's repetition loses. Where SetUpTestSuite has no counterpart, say, each repetition
//   makes the suite's object anew, and loses the old one with what the test has built in it. In the
//   suite's run there is one such object.
// - What waits in a queue of the kernel's. In the suite's run, another test may take it.
std::set<AskedStack> FindExcused(const std::set<AskedStack>& asked, const BlockFates& fates) {
  std::set<AskedStack> excused;
  for (const AskedStack& one : asked) {
    const bool is_of_set_up =
        fates.replaced.contains(one.keeper) && fates.replaced.contains(one.stack);
    if (is_of_set_up || fates.queued.contains(one.stack)) excused.insert(one);
  }
  return excused;
}

// Of other tests, the repetitions take longer than to start a process. What may fail, and what is
// about threads, mappings and descriptors, is repeated alone.
bool MayShareProcess(const WindowResult& window) {
  return window.status == TestStatus::kPassed && window.kind == WindowKind::kTest &&
         CountFirstRepetitions(window) == kMostQuickRepetitions &&
         window.descriptor_growth != DescriptorGrowth::kUnconfirmed &&
         std::none_of(window.mappings.begin(), window.mappings.end(),
                      [&](const Finding& finding) { return IsToBeConfirmed(window, finding); });
}

// Returns how many looks the series are of; 0 if there is none.
std::size_t CountLooks(const SeriesBySite& series) {
  if (series.empty() || series.begin()->second.empty()) return 0;
  return series.begin()->second.begin()->second.blocks.size() + 1;
}

// Returns whether the call stack itself grows, and not only all stacks of its call site together.
bool IsSteadyByItself(const SeriesBySite& series, const AskedStack& asked, SeriesLength length) {
  const std::optional<JudgedSeries> judged = JudgeAsked(series, asked, length);
  return judged && judged->growth == Growth::kSteady && !judged->is_of_all_stacks;
}

// Returns whether there were more blocks at each look.
bool GrowsEachTime(const RepetitionSeries& series) {
  return std::all_of(series.blocks.begin(), series.blocks.end(),
                     [](std::int64_t net) { return net > 0; });
}

// Returns how many repetitions a first series is of, if the last of its looks, before which many
// were not looked at, shows that something grows; else 0. A shorter series may take that for
// bounded.
std::size_t LateGrowthIn(const RepetitionResult& first) {
  std::size_t repetitions = 0;
  const auto note = [&](const RepetitionSeries& series) {
    const bool has_unlooked = series.repetitions > series.blocks.size() + 1;
    if (!has_unlooked || series.blocks.empty() || series.beyond < kBeyondBounds) return;
    // What has grown each time is repeated for long anyway, unless nobody has room for so much.
    if (GrowsEachTime(series)) return;
    if (series.blocks.back() <= 0 && series.bytes.back() <= 0) return;
    repetitions = std::max(repetitions, series.repetitions);
  };
  note(first.all.total);
  for (const auto& [site, stacks] : first.series) {
    for (const auto& [stack, series] : stacks) note(series);
  }
  return repetitions;
}

bool AnyGrowsEachTime(const SeriesBySite& series, const std::set<AskedStack>& asked) {
  return std::any_of(asked.begin(), asked.end(), [&](const AskedStack& one) {
    const auto judged = JudgeAsked(series, one, SeriesLength::kOpen);
    return judged && GrowsEachTime(judged->series);
  });
}

// Lets few repetitions of a slow test be enough for what grew each time.
void BelieveFewOf(RepetitionSeries& series) {
  constexpr std::size_t kFewest = 16;
  if (!GrowsEachTime(series)) return;
  const std::size_t repetitions = CountRepetitions(series) - 1;
  series.beyond = std::min(series.beyond, std::clamp(repetitions, kFewest, kBeyondFew));
}

// Of such a test not even the longest series has 64 repetitions, as growing threads need to fail.
bool IsSlow(const WindowResult& window) {
  constexpr int kWhole = 64;
  return kWhole * (window.end - window.begin) > kLongestSeries;
}

// What the call that started a thread has made is the thread's, as long as it runs.
bool IsOfRunningThread(const WindowResult& window, const Finding& finding) {
  return std::any_of(window.mappings.begin(), window.mappings.end(), [&](const Finding& mapping) {
    return mapping.kind == AllocationKind::kThreadStack && IsToBeConfirmed(window, mapping) &&
           CallSiteKey(mapping) == CallSiteKey(finding);
  });
}

bool LeavesThreadsAlone(const WindowResult& window) {
  const auto is_other = [&](const Finding& finding) {
    return IsToBeConfirmed(window, finding) && !IsOfRunningThread(window, finding);
  };
  return window.descriptor_growth != DescriptorGrowth::kUnconfirmed &&
         std::none_of(window.findings.begin(), window.findings.end(), is_other) &&
         std::none_of(window.mappings.begin(), window.mappings.end(), is_other);
}

// Returns whether what is there is what the first repetition made.
bool IsFlat(const SeriesBySite& series, const AskedStack& asked) {
  const auto judged = JudgeAsked(series, asked, SeriesLength::kShort);
  return judged && !judged->is_of_all_stacks && judged->growth == Growth::kNone &&
         DispositionOf(*judged) == Disposition::kOneTime;
}

// Returns whether that is so and nothing was freed later. Then no other test of the process can
// have hidden what this one adds each time.
bool WasBuiltOnce(const RepetitionResult& result, const AskedStack& asked) {
  return IsFlat(result.series, asked) && result.stacks_freed_later &&
         !result.stacks_freed_later->contains(asked.stack);
}

// Of threads and descriptors that go at times of their own, there are not so many more by chance.
bool IsCertain(const RepetitionSeries& series) {
  constexpr std::size_t kWhole = 63;
  constexpr std::int64_t kMany = 200;
  return series.blocks.size() * series.stride >= kWhole || GrowthOf(series).blocks >= kMany;
}

// How long a test is repeated for beyond the first 64 times, which tell what stops early: seconds,
// in which a quick test is repeated thousands of times.
class Pace {
 public:
  void NoteLooks(std::size_t looks) {
    const Clock::time_point now = Clock::now();
    if (looks >= kWhole && !whole_at_) whole_at_ = now;
  }
  // What has stopped by then has stopped.
  [[nodiscard]] bool IsSlow() const { return HasTaken(std::chrono::milliseconds(1500)); }
  [[nodiscard]] bool IsOver() const {
    if (!whole_at_) return false;
    return HasTaken(std::chrono::seconds(4) + 2 * (*whole_at_ - begin_));
  }
  // What has grown each time until then grows, though the test is so slow that these were not
  // enough repetitions to be beyond all bounds.
  [[nodiscard]] bool HasTold() const { return Clock::now() - begin_ >= std::chrono::seconds(10); }

 private:
  static constexpr std::size_t kWhole = 64;
  [[nodiscard]] bool HasTaken(std::chrono::nanoseconds time) const {
    return whole_at_ && Clock::now() - *whole_at_ >= time;
  }

  Clock::time_point begin_ = Clock::now();
  std::optional<Clock::time_point> whole_at_;
};

// Returns whether more repetitions might fail for want of descriptors, threads or memory.
bool MayExhaust(const SeriesBySite& series, const WindowResult& window) {
  constexpr std::int64_t kMuch = std::int64_t{2} << 30;
  const auto has_many = [](const JudgedSeries& judged) {
    return GrowthOf(judged.series).blocks > 0 && IsCertain(judged.series);
  };
  const auto descriptors = JudgeAsked(series, kAskedDescriptors, SeriesLength::kOpen);
  if (descriptors && has_many(*descriptors)) return true;
  return std::any_of(window.mappings.begin(), window.mappings.end(), [&](const Finding& finding) {
    if (!IsToBeConfirmed(window, finding)) return false;
    const auto judged = JudgeAsked(series, AskedOf(finding), SeriesLength::kOpen);
    if (!judged) return false;
    if (finding.kind == AllocationKind::kThreadStack) return has_many(*judged);
    return GrowthOf(judged->series).bytes >= kMuch;
  });
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

}  // namespace

// Where the longer series could not be had, the first one decides: it tells what does not grow. Of
// what grew nobody knows how far.
void Confirmation::Apply(const Outcome& outcome, Finding& finding) {
  if (!outcome.first.problem.empty()) {
    finding.explanation = outcome.first.problem;
    return;
  }
  const AskedStack asked = AskedOf(finding);
  const auto first = JudgeAsked(outcome.first.series, asked, SeriesLength::kShort);
  if (first && outcome.excused.contains(asked)) {
    ApplySeries(*first, SeriesLength::kShort, finding);
    const auto queue = outcome.first.fates.queued.find(asked.stack);
    const bool is_queued = queue != outcome.first.fates.queued.end();
    finding.disposition = is_queued ? Disposition::kUnconfirmed : Disposition::kOneTime;
    finding.explanation =
        is_queued ? fmt::format("each repetition puts more of it into {}, and takes none out",
                                queue->second)
                  : "what keeps it is made by a set-up, which ran anew for each repetition and "
                    "left the old one";
    return;
  }
  const bool has_longer = outcome.longer && outcome.longer->problem.empty();
  const auto longer =
      has_longer ? JudgeAsked(outcome.longer->series, asked, SeriesLength::kFinal) : std::nullopt;
  if (longer) {
    ApplySeries(*longer, SeriesLength::kFinal, finding);
    const bool is_made_up_for = finding.disposition == Disposition::kSteady && !IsMapped(finding) &&
                                IsMadeUpFor(outcome.longer->all, longer->series);
    if (is_made_up_for) {
      finding.disposition = Disposition::kUnconfirmed;
      finding.explanation += ", but as much was freed of what other call sites had made before";
    }
  } else if (first) {
    ApplySeries(*first, SeriesLength::kShort, finding);
    const bool was_told = first->growth != Growth::kSteady && first->growth != Growth::kIrregular;
    if (!was_told) finding.disposition = Disposition::kUnconfirmed;
    if (outcome.longer && !was_told) {
      finding.explanation = fmt::format(
          "in {} repetitions it grew by {}; for longer, {}", CountRepetitions(first->series),
          GrownText(first->series, finding.kind), outcome.longer->problem);
    }
  } else {
    finding.explanation = "run alone, the test leaves nothing of this call site";
  }
  const bool may_still_go = finding.kind == AllocationKind::kThreadStack &&
                            finding.disposition == Disposition::kSteady &&
                            !(longer && IsCertain(longer->series));
  if (may_still_go) finding.disposition = Disposition::kUnconfirmed;
}

void Confirmation::ApplyDescriptors(const Outcome& outcome, WindowResult& window) {
  if (window.descriptor_growth != DescriptorGrowth::kUnconfirmed) return;
  if (!outcome.longer || !outcome.longer->problem.empty()) return;
  const RepetitionResult& longer = *outcome.longer;
  const auto judged = JudgeAsked(longer.series, kAskedDescriptors, SeriesLength::kFinal);
  if (!judged || judged->growth != Growth::kSteady || !IsCertain(judged->series)) return;
  window.descriptor_growth = DescriptorGrowth::kGrows;
  window.file_descriptors = std::max<std::int64_t>(longer.descriptors_left.file_descriptors, 1);
  NameDescriptors(longer.descriptors_left.names, window.left_behind);
}

RepetitionResult Confirmation::RepeatFor(const WindowResult& window, RepetitionRequest request) {
  request.tests = {window.name};
  request.once = window.end - window.begin;
  request.may_fail = window.status != TestStatus::kPassed;
  return RepeatWithin(std::move(request));
}

std::string Confirmation::Limit(RepetitionRequest& request) const {
  using std::chrono::milliseconds;
  const auto left = std::chrono::duration_cast<milliseconds>(limits_.run - spent_);
  if (left <= milliseconds(0)) return "no time was left to repeat it (--confirm-run-timeout)";
  if (IsTimeUp()) return "the run's timeout was reached";
  if (setup_.is_cancelled()) return "its repetitions were interrupted";
  request.timeout = std::min(request.timeout, left);
  return "";
}

RepetitionResult Confirmation::RepeatWithin(RepetitionRequest request) {
  if (std::string why_not = Limit(request); !why_not.empty()) return {std::move(why_not), {}};
  const Clock::time_point begin = Clock::now();
  RepetitionResult result;
  // If the runner lacks descriptors, threads or memory to repeat the test, the test says so and the
  // run goes on.
  try {
    result = Repeat(setup_, request);
  } catch (const std::exception& error) {
    result = {fmt::format("it could not be repeated: {}", error.what()), {}};
  }
  spent_ += Clock::now() - begin;
  return result;
}

RepetitionResult Confirmation::RepeatFirst(const WindowResult& window,
                                           const std::set<AskedStack>& asked) {
  RepetitionRequest request;
  request.timeout = limits_.test;
  request.call_sites = SitesOf(asked);
  request.counts_in_sum = CountsFor(setup_, window);
  request.fates_of = StacksWithKeepers(asked);
  if (IsSlow(window) && LeavesThreadsAlone(window)) {
    // It passes if the second one starts no thread: more are for threads that come each time.
    request.repetitions = 2;
    RepetitionResult result = RepeatFor(window, request);
    const bool is_told = result.problem.empty() &&
                         std::all_of(asked.begin(), asked.end(), [&](const AskedStack& one) {
                           return IsFlat(result.series, one);
                         });
    if (is_told) return result;
  }
  request.repetitions = CountFirstRepetitions(window);
  if (request.repetitions == kMostQuickRepetitions) {
    request.looked_at = request.repetitions;
    request.repetitions += kMostUnlooked;
    request.unlooked = TimeUnlooked(1);
  }
  RepetitionResult result = RepeatFor(window, request);
  // Some tests cannot be repeated as often, but six times.
  const bool may_be_too_often = !result.problem.empty() && request.repetitions > kFewestRepetitions;
  if (!may_be_too_often) return result;
  request.repetitions = kFewestRepetitions;
  request.looked_at = 0;
  request.unlooked = {};
  return RepeatFor(window, std::move(request));
}

// What is about to fail, and what is not told yet.
bool Confirmation::NeedsMore(const Outcome& outcome) {
  const RepetitionResult& first = outcome.first;
  return first.problem.empty() &&
         AnyIs({first.series, first.all, first.by_test}, Without(outcome.asked, outcome.excused),
               SeriesLength::kShort, {Growth::kSteady, Growth::kIrregular});
}

RepetitionResult Confirmation::RepeatForLong(const WindowResult& window, const Outcome& outcome) {
  const RepetitionResult& first = outcome.first;
  const std::set<AskedStack>& excused = outcome.excused;
  const std::set<AskedStack> asked = Without(outcome.asked, excused);
  RepetitionRequest request;
  request.repetitions = kMostRepetitions;
  request.timeout = std::min(limits_.test, kLongestSeries);
  request.call_sites = SitesOf(asked);
  request.counts_in_sum = CountsWithout(excused, CountsFor(setup_, window));
  request.judged_from = LateGrowthIn(first);
  Pace pace;
  request.is_enough = [&](const SoFar& so_far) {
    const std::size_t looks =
        std::max(CountLooks(so_far.series), so_far.all.total.blocks.size() + 1);
    pace.NoteLooks(looks);
    if (MayExhaust(so_far.series, window)) return true;
    const auto any_is = [&](SeriesLength length, const std::set<Growth>& wanted) {
      return AnyIs(so_far, asked, length, wanted);
    };
    // Of a slow test, what is bounded by now is not asked again and again.
    if ((pace.IsSlow() || (IsSlow(window) && looks >= kEnoughOfSlow)) &&
        !any_is(SeriesLength::kFinal, {Growth::kSteady, Growth::kIrregular})) {
      return true;
    }
    const bool may_fail = AnyGrowsEachTime(so_far.series, asked);
    return (pace.IsOver() && (!may_fail || pace.HasTold())) ||
           any_is(SeriesLength::kOpen, {Growth::kSteady}) ||
           !any_is(SeriesLength::kOpen, {Growth::kIrregular});
  };
  RepetitionResult result = RepeatFor(window, std::move(request));
  if (pace.HasTold()) {
    BelieveFewOf(result.all.total);
    for (auto& [site, stacks] : result.series) {
      for (auto& [stack, series] : stacks) BelieveFewOf(series);
    }
  }
  return result;
}

Confirmation::Outcome& Confirmation::OutcomeOf(const WindowResult& window,
                                               const std::set<AskedStack>& asked) {
  const auto known = outcomes_.find(window.name);
  const bool is_answered = known != outcomes_.end() &&
                           std::includes(known->second.asked.begin(), known->second.asked.end(),
                                         asked.begin(), asked.end());
  if (is_answered) return known->second;
  std::set<AskedStack> all = asked;
  if (known != outcomes_.end()) all.insert(known->second.asked.begin(), known->second.asked.end());
  Outcome outcome{.asked = all, .excused = {}, .first = RepeatFirst(window, all), .longer = {}};
  outcome.excused = FindExcused(all, outcome.first.fates);
  TakeOut(SitesOf(outcome.excused), outcome.first.all);
  return outcomes_.insert_or_assign(window.name, std::move(outcome)).first->second;
}

void Confirmation::Explain(WindowResult& window) {
  const auto known = made_by_.find(window.name);
  const auto is_known = [&](Quantity quantity) {
    return std::any_of(known->second.begin(), known->second.end(),
                       [&](const TopAllocators& top) { return top.quantity == quantity; });
  };
  const std::vector<Quantity> quantities = ExceededActivities(window);
  if (known != made_by_.end() && std::all_of(quantities.begin(), quantities.end(), is_known)) {
    window.made_by = known->second;
    std::erase_if(window.made_by, [&](const TopAllocators& top) {
      return std::find(quantities.begin(), quantities.end(), top.quantity) == quantities.end();
    });
    return DecideVerdict(window);
  }
  RepetitionRequest request{.tests = {window.name}, .repetitions = 1, .timeout = limits_.test};
  std::string why_not = Limit(request);
  if (!setup_.request.extensions.find_top_allocators)
    why_not = "this leakgate was built without the profiler";
  if (!why_not.empty()) {
    window.made_by = UnknownTopAllocators(window, why_not);
    return;
  }
  const Clock::time_point begin = Clock::now();
  try {
    window.made_by = setup_.request.extensions.find_top_allocators(setup_, request, window);
  } catch (const std::exception& error) {
    window.made_by =
        UnknownTopAllocators(window, fmt::format("it could not be repeated: {}", error.what()));
  }
  spent_ += Clock::now() - begin;
  made_by_[window.name] = window.made_by;
  DecideVerdict(window);
}

std::set<std::string> Confirmation::FindTestsWithDescriptors(
    const std::vector<std::string>& tests) {
  if (tests.size() < 2) return {tests.begin(), tests.end()};
  RepetitionRequest request;
  request.tests = tests;
  request.repetitions = 1;
  request.timeout = limits_.test;
  request.call_sites = {kDescriptorsKey};
  request.may_fail = true;
  return RepeatWithin(std::move(request)).tests_with_descriptors;
}

bool Confirmation::IsOpen(const WindowResult& window) {
  const bool may_be =
      window.verdict == Verdict::kUnconfirmed || window.verdict == Verdict::kOverBudget;
  // A test that has ended the program once is not repeated.
  return may_be && window.status != TestStatus::kCrashed && !OpenStacks(window).empty();
}

void Confirmation::PrepareTogether(const std::vector<const WindowResult*>& windows) {
  constexpr std::size_t kMostNameBytes = 64UL << 10;  // a variable may have twice as many
  std::set<std::string> alone;
  for (const WindowResult* const window : windows) {
    if (!MayShareProcess(*window)) alone.insert(window->name);
  }
  AskedByTest asked;
  std::size_t name_bytes = 0;
  std::chrono::nanoseconds once{};
  for (const WindowResult* const window : windows) {
    if (alone.contains(window->name) || outcomes_.contains(window->name)) continue;
    if (name_bytes + window->name.size() > kMostNameBytes) {
      RepeatTogether(std::exchange(asked, {}), std::exchange(once, {}));
      name_bytes = 0;
    }
    asked[window->name].merge(OpenStacks(*window));
    name_bytes += window->name.size() + 1;
    once += window->end - window->begin;
  }
  RepeatTogether(asked, once);
}

void Confirmation::RepeatTogether(const AskedByTest& asked, std::chrono::nanoseconds once) {
  using std::chrono::milliseconds;
  if (asked.size() < 2) return;
  RepetitionRequest request;
  request.looked_at = kMostQuickRepetitions;
  request.repetitions = kMostQuickRepetitions + kMostUnlooked;
  request.unlooked = TimeUnlooked(asked.size());
  for (const auto& [test, stacks] : asked) {
    request.tests.push_back(test);
    request.call_sites.merge(SitesOf(stacks));
  }
  request.once = once;
  request.tells_frees = true;
  // Should they disturb one another, the time of all must not be spent on that.
  constexpr int kSlower = 20;
  const auto expected =
      std::chrono::duration_cast<milliseconds>(kMostQuickRepetitions * once + request.unlooked);
  request.timeout = std::min(
      {limits_.test, limits_.run / 8, kSlower * expected + milliseconds(std::chrono::seconds(2))});
  RepetitionResult result = RepeatWithin(request);
  // Some cannot be repeated as often.
  if (!result.problem.empty() && request.repetitions > kMostQuickRepetitions) {
    request.repetitions = kMostQuickRepetitions;
    request.unlooked = {};
    result = RepeatWithin(std::move(request));
  }
  if (!result.problem.empty()) return;
  for (const auto& [test, stacks] : asked) {
    const bool is_told =
        std::all_of(stacks.begin(), stacks.end(),
                    [&](const AskedStack& one) { return WasBuiltOnce(result, one); }) &&
        !result.unsettled_tests.contains(test);
    if (!is_told) continue;
    Outcome& outcome = outcomes_[test];
    outcome.asked = stacks;
    for (const AskedStack& one : stacks) {
      outcome.first.series[one.site][one.stack] = result.series.at(one.site).at(one.stack);
    }
  }
}

void Confirmation::RepeatLongTogether(const std::vector<const WindowResult*>& windows) {
  // So that each of their repetitions together takes no longer than this.
  constexpr std::chrono::milliseconds kOnce(4);
  std::map<std::string, const WindowResult*> tests;
  std::chrono::nanoseconds once{};
  for (const WindowResult* const window : windows) {
    const auto known = outcomes_.find(window->name);
    const bool may_be = known != outcomes_.end() && !known->second.longer &&
                        MayShareProcess(*window) && NeedsMore(known->second);
    const std::chrono::nanoseconds of_test = window->end - window->begin;
    if (!may_be || tests.contains(window->name) || of_test > kOnce) continue;
    if (once + of_test > kOnce) {
      RepeatLongTogether(std::exchange(tests, {}));
      once = {};
    }
    tests.emplace(window->name, window);
    once += of_test;
  }
  RepeatLongTogether(tests);
}

void Confirmation::RepeatLongTogether(const std::map<std::string, const WindowResult*>& tests) {
  RepetitionRequest request;
  request.repetitions = kMostRepetitions;
  for (const auto& [test, window] : tests) {
    CountsInSum counts = CountsFor(setup_, *window);
    if (counts == nullptr) continue;
    request.tests.push_back(test);
    request.once += window->end - window->begin;
    request.call_sites.merge(SitesOf(outcomes_.at(test).asked));
    request.counts_by_test.emplace(test, std::move(counts));
  }
  if (request.tests.size() < 2) return;
  request.timeout = std::min(limits_.test, kLongestSeries / 2);
  const auto grows = [this](const std::string& test, const GrowthOfTest& growth) {
    const Outcome& outcome = outcomes_.at(test);
    const std::set<AskedStack> asked = Without(outcome.asked, outcome.excused);
    return std::any_of(asked.begin(), asked.end(), [&](const AskedStack& one) {
      return IsSteadyByItself(growth.series, one, SeriesLength::kOpen);
    });
  };
  request.judged_from = kBeyondBounds;
  request.is_enough = [&](const SoFar& so_far) {
    return std::all_of(so_far.by_test.begin(), so_far.by_test.end(),
                       [&](const auto& of_test) { return grows(of_test.first, of_test.second); });
  };
  RepetitionResult result = RepeatWithin(std::move(request));
  if (!result.problem.empty()) return;
  for (auto& [test, growth] : result.by_test) {
    if (!grows(test, growth)) continue;
    RepetitionResult& longer = outcomes_.at(test).longer.emplace();
    longer.series = std::move(growth.series);
    longer.all = std::move(growth.all);
  }
}

void Confirmation::Prepare(const WindowResult& window) {
  if (IsOpen(window)) OutcomeOf(window, OpenStacks(window));
}

void Confirmation::Confirm(WindowResult& window) {
  if (!IsOpen(window)) return;
  Outcome& outcome = OutcomeOf(window, OpenStacks(window));
  if (!outcome.longer && NeedsMore(outcome)) {
    outcome.longer = RepeatForLong(window, outcome);
  }
  for (std::vector<Finding>* const findings : {&window.findings, &window.mappings}) {
    for (Finding& finding : *findings) {
      if (IsToBeRepeated(window, finding)) Apply(outcome, finding);
    }
    SortFindings(*findings);
  }
  if (outcome.first.problem.empty()) {
    const bool has_longer = outcome.longer && outcome.longer->problem.empty();
    ApplySum(setup_, has_longer ? outcome.longer->all : outcome.first.all,
             has_longer ? SeriesLength::kFinal : SeriesLength::kShort, window);
    SortFindings(window.findings);
  }
  ApplyDescriptors(outcome, window);
  DecideVerdict(window);
  PassUntold(window);
}

void Confirmation::ConfirmForLong(const WindowResult& window, Finding& finding) {
  const AskedStack asked = AskedOf(finding);
  const auto known = outcomes_.find(window.name);
  if (known != outcomes_.end() && known->second.excused.contains(asked)) return;
  const RepetitionResult result =
      RepeatForLong(window, {.asked = {asked}, .excused = {}, .first = {}, .longer = {}});
  if (!result.problem.empty()) return;
  const auto judged = JudgeAsked(result.series, asked, SeriesLength::kFinal);
  if (judged) ApplySeries(*judged, SeriesLength::kFinal, finding);
}

void Confirmation::ConfirmInTime(const std::vector<WindowResult*>& windows) {
  std::vector<WindowResult*> growing;
  for (WindowResult* const window : windows) {
    if (MayBeFreedInTime(*window, lasting_)) growing.push_back(window);
  }
  if (growing.empty() || limits_.wait <= std::chrono::milliseconds(0)) return;
  if (WaitFor(growing) || growing.size() == 1) return;
  // Repeated together, they disturb one another.
  constexpr std::size_t kMostAlone = 8;
  growing.resize(std::min(growing.size(), kMostAlone));
  for (WindowResult* const window : growing) WaitFor({window});
}

bool Confirmation::WaitFor(const std::vector<WindowResult*>& windows) {
  RepetitionRequest request = PauseRequestFor(setup_, limits_, windows);
  BeforePauses before;
  before.each = request.pauses->each;
  before.long_series = [this](const WindowResult& window) -> const RepetitionResult* {
    const auto outcome = outcomes_.find(window.name);
    return outcome != outcomes_.end() && outcome->second.longer ? &*outcome->second.longer
                                                                : nullptr;
  };
  before.grows_by_itself = [&](const WindowResult& window, const Finding& finding) {
    const RepetitionResult* const longer = before.long_series(window);
    return longer != nullptr &&
           IsSteadyByItself(longer->series, AskedOf(finding), SeriesLength::kFinal);
  };
  request.pauses->is_enough = [&](const SoFar& so_far) {
    return std::all_of(windows.begin(), windows.end(), [&](const WindowResult* window) {
      return IsToldByPauses(so_far, *window, before);
    });
  };
  const RepetitionResult result = RepeatWithin(std::move(request));
  if (!result.problem.empty()) return false;
  for (WindowResult* const window : windows) {
    ApplyPauses({result.series, result.all, result.by_test}, before, *window, lasting_);
    SortFindings(window->findings);
    SortFindings(window->mappings);
    DecideVerdict(*window);
  }
  return true;
}

}  // namespace leakgate
