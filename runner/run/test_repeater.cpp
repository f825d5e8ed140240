#include "runner/run/test_repeater.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <optional>

#include "runner/attribution/call_sites.h"
#include "runner/base/time_limit.h"
#include "runner/judge/window_verdict.h"
#include "runner/run/sum_of_test.h"

namespace leakgate {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr int kMostRepetitions = 20'000;
constexpr int kLeastRepetitions = 2;       // that tell anything
constexpr std::size_t kEnoughOfSlow = 24;  // so many can tell that it goes up and down
constexpr std::size_t kFewOfSlow = 8;      // and so many, that it comes back to its least

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

// Asks for the quick tests' first series: so many repetitions are looked at, and then the last one.
void LookAtLastOfMany(std::size_t tests, int looked_at, RepetitionRequest& request) {
  request.looked_at = looked_at;
  request.repetitions = looked_at + kMostUnlooked;
  request.unlooked = TimeUnlooked(tests);
}

CountsInSum CountsWithout(const AskedStacks& left_out, CountsInSum counts) {
  if (left_out.empty() || counts == nullptr) return counts;
  return [stacks = StacksOf(left_out), counts = std::move(counts)](const Finding& finding) {
    return !stacks.contains(CallStackKey(finding)) && counts(finding);
  };
}

// Returns how many looks the series are of; 0 if there is none.
std::size_t CountLooks(const SeriesBySite& series) {
  if (series.empty() || series.begin()->second.empty()) return 0;
  return series.begin()->second.begin()->second.blocks.size() + 1;
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

bool AnyGrowsEachTime(const SeriesBySite& series, const AskedStacks& asked) {
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

// How long a test is repeated for beyond the first 64 times, which tell what stops early: seconds,
// in which a quick test is repeated thousands of times.
class Pace {
 public:
  void NoteLooks(std::size_t looks) {
    const SteadyClock::time_point now = SteadyClock::now();
    if (looks >= kWhole && !whole_at_) whole_at_ = now;
  }
  // What has stopped by then has stopped.
  [[nodiscard]] bool IsSlow() const { return HasTaken(std::chrono::milliseconds(1500)); }
  [[nodiscard]] bool IsOver() const {
    if (!whole_at_) return false;
    return HasTaken(std::chrono::seconds(4) + 2 * (*whole_at_ - begin_));
  }
  // Of a test that has taken so long by then, a few looks are enough.
  [[nodiscard]] bool MayBeFew() const {
    return SteadyClock::now() - begin_ >= std::chrono::seconds(1);
  }
  // What has grown each time until then grows, though the test is so slow that these were not
  // enough repetitions to be beyond all bounds.
  [[nodiscard]] bool HasTold() const {
    return SteadyClock::now() - begin_ >= std::chrono::seconds(10);
  }

 private:
  static constexpr std::size_t kWhole = 64;
  [[nodiscard]] bool HasTaken(std::chrono::nanoseconds time) const {
    return whole_at_ && SteadyClock::now() - *whole_at_ >= time;
  }

  SteadyClock::time_point begin_ = SteadyClock::now();
  std::optional<SteadyClock::time_point> whole_at_;
};

// Returns whether more repetitions might fail for want of descriptors, threads or memory.
bool MayExhaust(const SeriesBySite& series, const WindowResult& window) {
  const auto has_many = [](const JudgedSeries& judged) {
    return GrowthOf(judged.series).blocks > 0 && IsCertain(judged.series);
  };
  const auto descriptors = JudgeAsked(series, AskedDescriptors(), SeriesLength::kOpen);
  if (descriptors && has_many(*descriptors)) return true;
  const auto may_exhaust = [&](const Finding& finding) {
    if (!IsToBeConfirmed(window, finding)) return false;
    const auto judged = JudgeAsked(series, AskedOf(finding), SeriesLength::kOpen);
    if (!judged) return false;
    if (finding.kind == AllocationKind::kThreadStack) return has_many(*judged);
    return GrowthOf(judged->series).bytes >= kMuchMemory;
  };
  return std::any_of(window.findings.begin(), window.findings.end(), may_exhaust) ||
         std::any_of(window.mappings.begin(), window.mappings.end(), may_exhaust);
}

// Returns whether a long series of the window's test has told what it can.
bool IsEnough(const SoFar& so_far, const WindowResult& window, const AskedStacks& asked,
              Pace& pace) {
  const std::size_t looks = std::max(CountLooks(so_far.series), so_far.all.total.blocks.size() + 1);
  pace.NoteLooks(looks);
  if (MayExhaust(so_far.series, window)) return true;
  const auto any_is = [&](SeriesLength length, const std::set<Growth>& wanted) {
    return AnyIs(so_far, asked, length, wanted);
  };
  // Of a slow test, what is bounded by now is not asked again and again.
  const auto is_told = [&](SeriesLength length) {
    return !any_is(length, {Growth::kSteady, Growth::kIrregular});
  };
  if (looks >= kFewOfSlow && (IsSlow(window) || pace.MayBeFew()) && is_told(SeriesLength::kSlow)) {
    return true;
  }
  if ((pace.IsSlow() || (IsSlow(window) && looks >= kEnoughOfSlow)) &&
      is_told(SeriesLength::kFinal)) {
    return true;
  }
  const bool may_fail = AnyGrowsEachTime(so_far.series, asked);
  return (pace.IsOver() && (!may_fail || pace.HasTold())) ||
         any_is(SeriesLength::kOpen, {Growth::kSteady}) ||
         !any_is(SeriesLength::kOpen, {Growth::kIrregular});
}

bool GrowsAmongOthers(const GrowthOfTest& growth, const TestOutcome& outcome) {
  const AskedStacks asked = outcome.Open();
  return std::any_of(asked.begin(), asked.end(), [&](const AskedStack& one) {
    return IsSteadyByItself(growth.series, one, SeriesLength::kOpen);
  });
}

}  // namespace

void TestRepeater::ShareTime(std::chrono::nanoseconds tests) {
  if (!limits_.time) return;
  const std::int64_t most = *limits_.time / std::max(tests, std::chrono::nanoseconds(1));
  most_first_ =
      static_cast<int>(std::clamp<std::int64_t>(most, kLeastRepetitions, kMostRepetitions));
}

std::chrono::milliseconds TestRepeater::TimeLeft() const {
  if (!limits_.time) return kLongestSeries;
  return *limits_.time -
         std::chrono::duration_cast<std::chrono::milliseconds>(spent_ - spent_on_growth_);
}

std::string TestRepeater::Limit(RepetitionRequest& request) const {
  using std::chrono::milliseconds;
  const auto left = std::chrono::duration_cast<milliseconds>(limits_.run - spent_);
  if (left <= milliseconds(0)) return "no time was left to repeat it (--confirm-run-timeout)";
  if (IsTimeUp()) return "the run's timeout was reached";
  if (setup_.is_cancelled()) return "its repetitions were interrupted";
  request.timeout = std::min(request.timeout, left);
  return "";
}

std::string TestRepeater::Spend(RepetitionRequest request, const RepeatBy& repeat) {
  if (std::string why_not = Limit(request); !why_not.empty()) return why_not;
  const SteadyClock::time_point begin = SteadyClock::now();
  std::string problem;
  // If the runner lacks descriptors, threads or memory to repeat the test, the test says so and the
  // run goes on.
  try {
    repeat(request);
  } catch (const std::exception& error) {
    problem = fmt::format("it could not be repeated: {}", error.what());
  }
  spent_ += SteadyClock::now() - begin;
  return problem;
}

RepetitionResult TestRepeater::RepeatWithin(RepetitionRequest request) {
  RepetitionResult result;
  std::string problem = Spend(std::move(request), [&](const RepetitionRequest& limited) {
    result = Repeat(setup_, limited);
  });
  if (!problem.empty()) result = {std::move(problem), {}};
  return result;
}

RepetitionResult TestRepeater::RepeatAlone(const WindowResult& window, RepetitionRequest request) {
  request.tests = {window.name};
  request.once = window.end - window.begin;
  request.may_fail = window.status != TestStatus::kPassed;
  return RepeatWithin(std::move(request));
}

RepetitionResult TestRepeater::RepeatFirst(const WindowResult& window, const AskedStacks& asked) {
  RepetitionRequest request;
  request.timeout = limits_.test;
  request.call_sites = SitesOf(asked);
  request.counts_in_sum = CountsFor(setup_, window);
  request.fates_of = StacksWithKeepers(asked);
  // What leaves threads alone passes if the second one starts none: more are for threads that come
  // each time.
  const bool is_of_threads = IsSlow(window) && LeavesThreadsAlone(window);
  const int few = is_of_threads ? kLeastRepetitions : most_first_;
  if (few < kFewestRepetitions) {
    request.repetitions = few;
    RepetitionResult result = RepeatAlone(window, request);
    if (result.problem.empty() && AreFlat(result, asked)) return result;
  }
  request.repetitions = std::clamp(most_first_, kFewestRepetitions, CountFirstRepetitions(window));
  if (CountFirstRepetitions(window) == kMostQuickRepetitions) {
    LookAtLastOfMany(1, request.repetitions, request);
  }
  RepetitionResult result = RepeatAlone(window, request);
  // Some tests cannot be repeated as often, but six times.
  const bool may_be_too_often = !result.problem.empty() && request.repetitions > kFewestRepetitions;
  if (!may_be_too_often) return result;
  request.repetitions = kFewestRepetitions;
  request.looked_at = 0;
  request.unlooked = {};
  return RepeatAlone(window, std::move(request));
}

RepetitionResult TestRepeater::RepeatTogether(const AskedByTest& asked,
                                              std::chrono::nanoseconds once) {
  using std::chrono::milliseconds;
  RepetitionRequest request;
  const int looked_at = std::clamp(most_first_, kLeastRepetitions + 1, kMostQuickRepetitions);
  LookAtLastOfMany(asked.size(), looked_at, request);
  for (const auto& [test, stacks] : asked) {
    request.tests.push_back(test);
    request.call_sites.merge(SitesOf(stacks));
  }
  request.once = once;
  request.tells_frees = true;
  // Should they disturb one another, the time of all must not be spent on that.
  constexpr int kSlower = 20;
  const auto expected =
      std::chrono::duration_cast<milliseconds>(looked_at * once + request.unlooked);
  request.timeout = std::min(
      {limits_.test, limits_.run / 8, kSlower * expected + milliseconds(std::chrono::seconds(2))});
  RepetitionResult result = RepeatWithin(request);
  if (result.problem.empty()) return result;
  // Some cannot be repeated as often.
  request.repetitions = looked_at;
  request.unlooked = {};
  return RepeatWithin(std::move(request));
}

RepetitionResult TestRepeater::RepeatForLong(const WindowResult& window,
                                             const TestOutcome& outcome) {
  const AskedStacks asked = outcome.Open();
  RepetitionRequest request;
  request.repetitions = kMostRepetitions;
  request.timeout = std::min(limits_.test, kLongestSeries);
  const bool may_fail = FirstShows(outcome, {Growth::kSteady});
  if (!may_fail) request.timeout = std::min(request.timeout, TimeLeft());
  if (request.timeout <= std::chrono::milliseconds(0)) {
    return {"no time was left to repeat it (--confirm-time)", {}};
  }
  request.call_sites = SitesOf(asked);
  request.counts_in_sum = CountsWithout(Without(outcome.asked, asked), CountsFor(setup_, window));
  request.judged_from = LateGrowthIn(outcome.first);
  const std::chrono::nanoseconds spent_before = spent_;
  Pace pace;
  request.is_enough = [&](const SoFar& so_far) { return IsEnough(so_far, window, asked, pace); };
  RepetitionResult result = RepeatAlone(window, std::move(request));
  if (may_fail) spent_on_growth_ += spent_ - spent_before;
  if (!pace.HasTold()) return result;
  BelieveFewOf(result.all.total);
  for (auto& [site, stacks] : result.series) {
    for (auto& [stack, series] : stacks) BelieveFewOf(series);
  }
  return result;
}

std::map<std::string, GrowthOfTest> TestRepeater::RepeatLongTogether(const OpenTests& tests) {
  RepetitionRequest request;
  request.repetitions = kMostRepetitions;
  for (const auto& [test, open] : tests) {
    CountsInSum counts = CountsFor(setup_, *open.window);
    if (counts == nullptr) continue;
    request.tests.push_back(test);
    request.once += open.window->end - open.window->begin;
    request.call_sites.merge(SitesOf(open.outcome->asked));
    request.counts_by_test.emplace(test, std::move(counts));
  }
  if (request.tests.size() < 2) return {};
  request.timeout = std::min(limits_.test, kLongestSeries / 2);
  request.judged_from = kBeyondBounds;
  request.is_enough = [&](const SoFar& so_far) {
    return std::all_of(so_far.by_test.begin(), so_far.by_test.end(), [&](const auto& of_test) {
      return GrowsAmongOthers(of_test.second, *tests.at(of_test.first).outcome);
    });
  };
  RepetitionResult result = RepeatWithin(std::move(request));
  if (!result.problem.empty()) return {};
  std::erase_if(result.by_test, [&](const auto& of_test) {
    return !GrowsAmongOthers(of_test.second, *tests.at(of_test.first).outcome);
  });
  return std::move(result.by_test);
}

}  // namespace leakgate
