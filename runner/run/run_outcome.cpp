#include "runner/run/run_outcome.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string_view>

#include "runner/attribution/stack_pattern.h"
#include "runner/base/path_text.h"
#include "runner/budget/apply_limits.h"
#include "runner/budget/wording.h"
#include "runner/host/process_status.h"
#include "runner/judge/window_verdict.h"
#include "runner/region/region_words.h"
#include "runner/result/gtest_flags.h"
#include "runner/run/program_watch.h"

namespace leakgate {
namespace {

// Looks at the last image only, because each earlier one ended when the next was executed.
std::string DoubtAboutEnd(const RegionReader& last, const ProgramExit& program) {
  if (last.State() != AgentState::kTracing) {
    return "nothing was traced: " + AgentFailureText(last.Failure());
  }
  if (last.End() != ProgramEnd::kUnseen || program.ShellCode() != 0) return "";
  return std::string(UnseenEndText());
}

// Says what to do about a drop. `drop` is its word in reports.
std::string_view RemedyFor(std::string_view drop) {
  if (drop == "reentered") return "let signal handlers not allocate";
  if (drop == "address_range" || drop == "unaligned") return "gate with another allocator";
  if (drop == "map_full" || drop == "no_thread_state") {
    return "raise the limit on address space (ulimit -v), or run fewer tests and threads at once";
  }
  if (drop == Word(DropReason::kMissedFree)) {
    return "compile the file that defines malloc without inlining (-fno-inline)";
  }
  return "split the run into shards, or repeat less";
}

bool HasVerdict(const RunResult& result, Verdict verdict) {
  return std::any_of(result.windows.begin(), result.windows.end(),
                     [=](const WindowResult& window) { return window.verdict == verdict; });
}

}  // namespace

std::vector<std::string> ReasonsForDoubt(const Generations& generations, const RunResult& result) {
  std::vector<std::string> reasons = generations.errors();
  if (generations.processes().empty()) {
    if (!reasons.empty()) return reasons;
    return {std::string(NoAgentText())};
  }
  for (const auto& process : generations.processes()) {
    if (!process->region().IsWhole()) reasons.push_back(DamageText());
    if (process->failure().empty()) continue;
    reasons.push_back(
        fmt::format("a test could not be judged: {}; give leakgate more memory and processes "
                    "(ulimit -v, ulimit -u)",
                    process->failure()));
  }
  const std::string doubt = DoubtAboutEnd(generations.processes().back()->region(), result.program);
  if (!doubt.empty()) reasons.push_back(doubt);
  for (const auto& [reason, count] : result.tracing.drops) {
    reasons.push_back(fmt::format("{} event{} could not be recorded ({}); {}", count,
                                  count == 1 ? "" : "s", reason, RemedyFor(reason)));
  }
  // Call sites can no longer be distinguished: frees of one would count for blocks of another.
  const auto cut = result.tracing.stack_ends.find("table_full");
  if (cut != result.tracing.stack_ends.end()) {
    reasons.push_back(fmt::format("{} stack{} could not be recorded in full (stack_table_full); {}",
                                  cut->second, cut->second == 1 ? "" : "s",
                                  RemedyFor("stack_table_full")));
  }
  return reasons;
}

namespace {

bool AsksForOther(const RunResult& result) {
  return AsksForNoTest(result.arguments) ||
         std::find(result.arguments.begin(), result.arguments.end(), "-h") !=
             result.arguments.end();
}

}  // namespace

std::string DoubtWithoutTests(const RunResult& result,
                              const std::vector<std::string>& environment) {
  const bool has_tests =
      std::any_of(result.windows.begin(), result.windows.end(),
                  [](const WindowResult& window) { return window.kind == WindowKind::kTest; });
  const bool is_shard = result.shard && result.shard->total > 1;
  const bool is_asked = result.tracing.boundaries != BoundarySource::kNone && !is_shard &&
                        !AsksForOther(result) && result.program.ShellCode() == 0;
  if (has_tests || !is_asked) return "";
  const std::string filter = FilterGiven(result.arguments, environment);
  if (filter.empty()) return "no test ran: the program has none; --allow-no-tests lets it pass";
  return fmt::format(
      "no test ran: {} chooses none; correct it, or let that pass by "
      "--allow-no-tests",
      filter);
}

std::string DoubtAboutListener(const Preparation& prepared, const RunResult& result) {
  const bool has_told = result.tracing.boundaries != BoundarySource::kNone;
  const bool is_to_add =
      prepared.linked.framework == TestFramework::kGoogleTest && prepared.linked.has_listener;
  if (!is_to_add || has_told) return "";
  const bool has_executed = result.tracing.generations != 1;
  if (has_executed || AsksForOther(result) || result.program.WasKilled()) return "";
  return fmt::format(
      "{} has leakgate's listener, but did not add it, so no tests were told apart; call "
      "leakgate::AppendListener() after testing::InitGoogleTest, or link leakgate::gtest_main",
      PathText(prepared.program.filename()));
}

std::string LateReason(std::chrono::milliseconds timeout) {
  return fmt::format(
      "the timeout of {} s was reached after the program had ended: not all that it left could be "
      "judged and confirmed",
      static_cast<double>(timeout.count()) / 1000.0);
}

std::string TimeoutReason(const Generations& generations, std::chrono::milliseconds timeout) {
  const bool is_told =
      !generations.processes().empty() && generations.processes().back()->region().IsWhole();
  const std::string running = is_told ? RunningTest(generations) : "";
  return fmt::format(
      "the timeout of {} s was reached{}{}; the program and all that it started were killed",
      static_cast<double>(timeout.count()) / 1000.0,
      running.empty() ? "" : " while this test ran: ", running);
}

namespace {

std::set<std::string> UsedPlaces(const std::vector<WindowResult>& windows) {
  std::set<std::string> places;
  for (const WindowResult& window : windows) {
    for (const std::vector<Finding>* const findings : {&window.findings, &window.mappings}) {
      for (const Finding& finding : *findings) {
        if (!finding.allowance.empty()) places.insert(finding.allowance);
      }
    }
  }
  return places;
}

// Returns whether blocks that the allowance matches count against a limit: then they were more than
// it permits, and it is needed.
bool IsExceeded(const Allowance& allowance, const std::vector<WindowResult>& windows) {
  return std::any_of(windows.begin(), windows.end(), [&](const WindowResult& window) {
    if (!allowance.tests.empty() && !MatchesAnyFilter(allowance.tests, window.name)) return false;
    return std::any_of(window.findings.begin(), window.findings.end(), [&](const Finding& it) {
      return IsUsers(it) && CountsLiterally(it) && MatchesStack(allowance.stack, it.stack);
    });
  });
}

bool IsOfOtherTests(const Allowance& allowance, const std::vector<WindowResult>& windows) {
  return !allowance.tests.empty() &&
         std::none_of(windows.begin(), windows.end(), [&](const WindowResult& window) {
           return MatchesAnyFilter(allowance.tests, window.name);
         });
}

constexpr std::uint32_t kFirstAllowance = 1;

void AddUnmet(const RegionReader& region, const std::set<std::string>& used, RunResult& result) {
  constexpr std::size_t kMost = 1000;  // the program may have written any number
  for (std::uint32_t id = kFirstAllowance; id < region.AllowanceCount(); ++id) {
    const AllowanceCopy allowance = region.Allowance(id);
    if (allowance.kind != AllowanceKind::kExpected) continue;
    const std::string place = fmt::format("{}:{}", allowance.file, allowance.line);
    if (used.contains(place)) continue;
    if (result.warnings.size() >= kMost) return;
    result.warnings.push_back(
        fmt::format("{}: {} was to leave memory outstanding and left none; remove the expectation",
                    place, region.Window(allowance.window).name));
  }
}

}  // namespace

std::vector<std::string> UnusedAllowances(const BudgetSet& budgets,
                                          const std::vector<std::filesystem::path>& given,
                                          const std::vector<WindowResult>& windows) {
  std::vector<std::string> lines;
  if (budgets.Files().empty()) return lines;
  const std::set<std::string> used = UsedPlaces(windows);
  for (const BudgetFile* const file : budgets.Files()) {
    const bool is_named = std::find(given.begin(), given.end(), file->path) != given.end();
    for (const Allowance& allowance : file->allowances) {
      if (!is_named && IsOfOtherTests(allowance, windows)) continue;
      const std::string place = fmt::format("{}:{}", PathText(file->path), allowance.line);
      if (used.contains(place) || HasExpired(allowance.expires, Today())) continue;
      if (IsExceeded(allowance, windows)) continue;
      lines.push_back(fmt::format("{}: the allowance for {} was not used; remove it", place,
                                  fmt::join(allowance.stack, ", ")));
    }
  }
  return lines;
}

void AddUnmetExpectations(const Generations& generations, RunResult& result) {
  const bool has_any = std::any_of(
      generations.processes().begin(), generations.processes().end(),
      [](const auto& process) { return process->region().AllowanceCount() > kFirstAllowance; });
  if (!has_any) return;
  const std::set<std::string> used = UsedPlaces(result.windows);
  for (const auto& process : generations.processes()) AddUnmet(process->region(), used, result);
}

void AddTracing(const RegionReader& region, TracingResult& tracing) {
  if (region.Boundaries() != BoundarySource::kNone) tracing.boundaries = region.Boundaries();
  for (std::uint32_t i = 0; i < kDropReasonCount; ++i) {
    const auto reason = static_cast<DropReason>(i);
    const std::uint64_t drops = region.Drops(reason);
    if (drops != 0) tracing.drops[Word(reason)] += drops;
  }
  for (std::uint32_t i = 1; i < kUnwindEndCount; ++i) {  // 0: complete
    const auto end = static_cast<UnwindEnd>(i);
    const std::uint64_t stacks = region.StackEnds(end);
    if (stacks != 0) tracing.stack_ends[Word(end)] += stacks;
  }
  const StackCounts stacks = region.CountStacks();
  const std::uint64_t allocated = region.CurrentTotals().allocated_blocks;
  tracing.stacks_proved += allocated - std::min(stacks.walked, allocated);
  tracing.stacks_walked += stacks.walked;
  tracing.stacks_unprovable += stacks.unprovable;
  tracing.frames_walked += stacks.frames_walked;
  tracing.frames_without_rule += stacks.rules_made;
  tracing.mapped += region.MappedInAll();
}

void DoubtMissedFrees(RunResult& result) {
  if (result.tracing.drops.count(Word(DropReason::kMissedFree)) == 0) return;
  for (WindowResult& window : result.windows) {
    window.doubts.unjudged =
        "frees of its blocks may have been missed (missed_free); compile the file that defines "
        "malloc "
        "without inlining (-fno-inline)";
    DecideVerdict(window);
  }
}

void AddTracing(const TracingResult& from, TracingResult& to) {
  if (from.boundaries != BoundarySource::kNone) to.boundaries = from.boundaries;
  for (const auto& [reason, count] : from.drops) to.drops[reason] += count;
  for (const auto& [reason, count] : from.stack_ends) to.stack_ends[reason] += count;
  to.stacks_proved += from.stacks_proved;
  to.stacks_walked += from.stacks_walked;
  to.stacks_unprovable += from.stacks_unprovable;
  to.frames_walked += from.frames_walked;
  to.frames_without_rule += from.frames_without_rule;
}

void RefineStatuses(const TestStatuses& statuses, const ProgramExit& program,
                    std::vector<WindowResult>& windows) {
  int last = 1;
  for (const WindowResult& window : windows) last = std::max(last, window.iteration);
  for (WindowResult& window : windows) {
    if (window.status != TestStatus::kNotPassed) continue;
    if (program.ShellCode() == 0) window.status = TestStatus::kSkipped;
    if (window.iteration != last) continue;
    const auto found = statuses.find(window.name);
    if (found != statuses.end() && found->second != TestStatus::kPassed) {
      window.status = found->second;
    }
  }
}

void NoteUnended(const ProgramExit& program, std::vector<WindowResult>& windows) {
  for (WindowResult& window : windows) {
    const bool is_killed_program = window.kind == WindowKind::kProgram && program.WasKilled();
    if (window.status != TestStatus::kCrashed && !is_killed_program) continue;
    window.doubts.has_not_ended = true;
    DecideVerdict(window);
  }
}

Verdict OverallVerdict(const RunResult& result) {
  const bool fails_strictly =
      result.mode == GateMode::kStrict &&
      (HasVerdict(result, Verdict::kUnconfirmed) || !result.warnings.empty());
  if (HasVerdict(result, Verdict::kOverBudget) || !result.failures.empty() || fails_strictly) {
    return Verdict::kOverBudget;
  }
  if (!result.reasons.empty() || HasVerdict(result, Verdict::kInconclusive)) {
    return Verdict::kInconclusive;
  }
  return HasVerdict(result, Verdict::kUnconfirmed) ? Verdict::kUnconfirmed : Verdict::kPass;
}

bool RanNoTestToItsEnd(const RunResult& result) {
  if (result.tracing.boundaries == BoundarySource::kNone) return false;
  return std::all_of(result.windows.begin(), result.windows.end(), [](const WindowResult& window) {
    return window.kind != WindowKind::kTest || window.status == TestStatus::kSkipped;
  });
}

int FinalExitCode(const RunResult& result) {
  if (result.program.ShellCode() != 0) return result.program.ShellCode();
  if (result.mode == GateMode::kWarnOnly) return static_cast<int>(ExitCode::kPass);
  switch (result.verdict) {
    case Verdict::kOverBudget:
      return static_cast<int>(ExitCode::kOverBudget);
    case Verdict::kInconclusive:
      return static_cast<int>(ExitCode::kInconclusive);
    case Verdict::kUnconfirmed:
    case Verdict::kPass:
    case Verdict::kNotGated:
      break;
  }
  return static_cast<int>(ExitCode::kPass);
}

}  // namespace leakgate
