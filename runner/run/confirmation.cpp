#include "runner/run/confirmation.h"

#include <algorithm>
#include <utility>

#include "runner/attribution/call_sites.h"
#include "runner/judge/window_verdict.h"
#include "runner/report/excess.h"
#include "runner/run/freed_in_time.h"
#include "runner/run/run_request.h"
#include "runner/run/sum_of_test.h"

namespace leakgate {

TestOutcome& Confirmation::OutcomeOf(const WindowResult& window) {
  const AskedStacks asked = FindOpenStacks(window);
  const auto known = outcomes_.find(window.name);
  const bool is_answered = known != outcomes_.end() &&
                           std::includes(known->second.asked.begin(), known->second.asked.end(),
                                         asked.begin(), asked.end());
  if (is_answered) return known->second;
  AskedStacks all = asked;
  if (known != outcomes_.end()) all.insert(known->second.asked.begin(), known->second.asked.end());
  TestOutcome outcome{.asked = all, .first = repeater_.RepeatFirst(window, all)};
  outcome.excused = FindExcused(all, outcome.first.fates);
  outcome.lost = FindLostEachTime(Without(all, outcome.excused), outcome.first);
  TakeOut(SitesOf(Without(all, outcome.Open())), outcome.first.all);
  return outcomes_.insert_or_assign(window.name, std::move(outcome)).first->second;
}

bool Confirmation::IsOpen(const WindowResult& window) {
  const bool may_be =
      window.verdict == Verdict::kUnconfirmed || window.verdict == Verdict::kOverBudget;
  // A test that has ended the program once is not repeated.
  return may_be && window.status != TestStatus::kCrashed && !FindOpenStacks(window).empty();
}

void Confirmation::PrepareTogether(const std::vector<const WindowResult*>& windows) {
  constexpr std::size_t kMostNameBytes = 64UL << 10;  // a variable may have twice as many
  std::set<std::string> alone;
  for (const WindowResult* const window : windows) {
    if (!MayShareProcess(*window)) alone.insert(window->name);
  }
  TestRepeater::AskedByTest asked;
  std::size_t name_bytes = 0;
  std::chrono::nanoseconds once{};
  for (const WindowResult* const window : windows) {
    if (alone.contains(window->name) || outcomes_.contains(window->name)) continue;
    if (name_bytes + window->name.size() > kMostNameBytes) {
      PrepareTogether(std::exchange(asked, {}), std::exchange(once, {}));
      name_bytes = 0;
    }
    asked[window->name].merge(FindOpenStacks(*window));
    name_bytes += window->name.size() + 1;
    once += window->end - window->begin;
  }
  PrepareTogether(asked, once);
}

void Confirmation::PrepareTogether(const TestRepeater::AskedByTest& asked,
                                   std::chrono::nanoseconds once) {
  if (asked.size() < 2) return;
  const RepetitionResult result = repeater_.RepeatTogether(asked, once);
  if (!result.problem.empty()) return;
  for (const auto& [test, stacks] : asked) {
    if (!WereBuiltOnce(result, stacks) || result.unsettled_tests.contains(test)) continue;
    TestOutcome& outcome = outcomes_[test];
    outcome.asked = stacks;
    for (const AskedStack& one : stacks) {
      outcome.first.series[one.site][one.stack] = result.series.at(one.site).at(one.stack);
    }
  }
}

void Confirmation::RepeatLongTogether(const std::vector<const WindowResult*>& windows) {
  // So that each of their repetitions together takes no longer than this.
  constexpr std::chrono::milliseconds kOnce(4);
  TestRepeater::OpenTests tests;
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
    tests.emplace(window->name, TestRepeater::OpenTest{window, &known->second});
    once += of_test;
  }
  RepeatLongTogether(tests);
}

void Confirmation::RepeatLongTogether(const TestRepeater::OpenTests& tests) {
  for (auto& [test, growth] : repeater_.RepeatLongTogether(tests)) {
    RepetitionResult& longer = outcomes_.at(test).longer.emplace();
    longer.series = std::move(growth.series);
    longer.all = std::move(growth.all);
  }
}

void Confirmation::Prepare(const WindowResult& window) {
  if (IsOpen(window)) OutcomeOf(window);
}

void Confirmation::Confirm(WindowResult& window) {
  if (!IsOpen(window)) return;
  TestOutcome& outcome = OutcomeOf(window);
  if (!outcome.longer && NeedsMore(outcome)) {
    outcome.longer = repeater_.RepeatForLong(window, outcome);
  }
  ApplyOutcome(outcome, window);
  if (outcome.first.problem.empty()) {
    const RepetitionResult* const longer = outcome.FindLonger();
    ApplySum(repeater_.setup(), longer != nullptr ? longer->all : outcome.first.all,
             longer != nullptr ? SeriesLength::kFinal : SeriesLength::kShort, window);
    SortFindings(window.findings);
  }
  PassUntold(window);
  DecideVerdict(window);
}

void Confirmation::ConfirmForLong(const WindowResult& window, Finding& finding) {
  const AskedStack asked = AskedOf(finding);
  const auto known = outcomes_.find(window.name);
  if (known != outcomes_.end() && known->second.excused.contains(asked)) return;
  const RepetitionResult result = repeater_.RepeatForLong(window, {.asked = {asked}});
  if (!result.problem.empty()) return;
  const auto judged = JudgeAsked(result.series, asked, SeriesLength::kFinal);
  if (judged) ApplySeries(*judged, SeriesLength::kFinal, finding);
}

void Confirmation::ConfirmInTime(const std::vector<WindowResult*>& windows) {
  std::vector<WindowResult*> growing;
  for (WindowResult* const window : windows) {
    if (MayBeFreedInTime(*window, lasting_)) growing.push_back(window);
  }
  if (growing.empty() || repeater_.limits().wait <= std::chrono::milliseconds(0)) return;
  if (WaitFor(growing) || growing.size() == 1) return;
  // Repeated together, they disturb one another.
  constexpr std::size_t kMostAlone = 8;
  std::stable_partition(growing.begin(), growing.end(),
                        [](const WindowResult* window) { return LeavesThreads(*window); });
  growing.resize(std::min(growing.size(), kMostAlone));
  for (WindowResult* const window : growing) WaitFor({window});
}

bool Confirmation::WaitFor(const std::vector<WindowResult*>& windows) {
  RepetitionRequest request = PauseRequestFor(repeater_.setup(), repeater_.limits(), windows);
  const BeforePauses before{request.pauses->each, outcomes_};
  request.pauses->is_enough = [&](const SoFar& so_far) {
    return std::all_of(windows.begin(), windows.end(), [&](const WindowResult* window) {
      return IsToldByPauses(so_far, *window, before);
    });
  };
  const RepetitionResult result = repeater_.RepeatWithin(std::move(request));
  // One that takes much memory may have ended it before the first pause.
  if (!result.problem.empty() || !HasPaused(result)) return false;
  const bool is_alone = windows.size() == 1;
  std::vector<WindowResult*> unseen;
  for (WindowResult* const window : windows) {
    if (!ApplyPauses({result.series, result.all, result.by_test}, before, *window, lasting_)) {
      is_alone ? DoubtUnseenThreads(*window) : unseen.push_back(window);
    }
    SortFindings(window->findings);
    SortFindings(window->mappings);
    DecideVerdict(*window);
  }
  // Beside slow tests, a thread ends before its test's next repetition.
  for (WindowResult* const window : unseen) WaitFor({window});
  return true;
}

void Confirmation::Explain(WindowResult& window) {
  const std::vector<Quantity> quantities = ExceededActivities(window);
  const auto is_of = [](Quantity quantity) {
    return [quantity](const TopAllocators& top) { return top.quantity == quantity; };
  };
  const auto known = made_by_.find(window.name);
  const bool is_known =
      known != made_by_.end() &&
      std::all_of(quantities.begin(), quantities.end(), [&](Quantity quantity) {
        return std::any_of(known->second.begin(), known->second.end(), is_of(quantity));
      });
  if (is_known) {
    window.made_by = known->second;
    std::erase_if(window.made_by, [&](const TopAllocators& top) {
      return std::find(quantities.begin(), quantities.end(), top.quantity) == quantities.end();
    });
    return DecideVerdict(window);
  }
  const RepetitionSetup& setup = repeater_.setup();
  std::string why_not = "this leakgate was built without the profiler";
  if (setup.request.extensions.find_top_allocators) {
    why_not = repeater_.Spend(
        {.tests = {window.name}, .repetitions = 1, .timeout = repeater_.limits().test},
        [&](const RepetitionRequest& request) {
          window.made_by = setup.request.extensions.find_top_allocators(setup, request, window);
        });
  }
  if (!why_not.empty()) window.made_by = UnknownTopAllocators(window, why_not);
  made_by_[window.name] = window.made_by;
  DecideVerdict(window);
}

std::set<std::string> Confirmation::FindTestsWithDescriptors(
    const std::vector<std::string>& tests) {
  if (tests.size() < 2) return {tests.begin(), tests.end()};
  RepetitionRequest request;
  request.tests = tests;
  request.repetitions = 1;
  request.timeout = repeater_.limits().test;
  request.call_sites = {kDescriptorsKey};
  request.may_fail = true;
  return repeater_.RepeatWithin(std::move(request)).tests_with_descriptors;
}

}  // namespace leakgate
