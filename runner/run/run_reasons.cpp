#include "runner/run/run_reasons.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string_view>

#include "runner/budget/apply_limits.h"
#include "runner/budget/expiry.h"
#include "runner/host/traced_status.h"

namespace leakgate {
namespace {

// Of the last image only: an earlier one ended in the next one's exec.
std::string DoubtAboutEnd(const RegionReader& last, const ProgramExit& program) {
  if (last.State() != AgentState::kTracing) {
    return "nothing was traced: " + AgentFailureText(last.Failure());
  }
  if (last.End() != ProgramEnd::kUnseen || program.ShellCode() != 0) return "";
  return "the program ended without its exit handlers, or executed another that cannot be traced "
         "(static, or without LD_PRELOAD), so what it left could not be judged; run the test "
         "binary itself";
}

// What to do about a drop, by its word in reports.
std::string_view RemedyFor(std::string_view drop) {
  if (drop == "reentered") return "let signal handlers not allocate";
  if (drop == "address_range" || drop == "unaligned") return "gate with another allocator";
  if (drop == "map_full" || drop == "no_thread_state") {
    return "raise the limit on address space (ulimit -v), or run fewer tests and threads at once";
  }
  return "split the run into shards, or repeat less";
}

}  // namespace

std::vector<std::string> ReasonsForDoubt(const Generations& generations, const RunResult& result) {
  std::vector<std::string> reasons = generations.errors();
  if (generations.processes().empty()) {
    if (!reasons.empty()) return reasons;
    return {
        "the agent did not start in the program, so nothing was traced; is it static, or does "
        "it clear LD_PRELOAD?"};
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
  // Call sites can no longer be told apart, and one's frees would count for another's blocks.
  const auto cut = result.tracing.stack_ends.find("table_full");
  if (cut != result.tracing.stack_ends.end()) {
    reasons.push_back(fmt::format("{} stack{} could not be recorded in full (stack_table_full); {}",
                                  cut->second, cut->second == 1 ? "" : "s",
                                  RemedyFor("stack_table_full")));
  }
  return reasons;
}

std::string TimeoutReason(const Generations& generations, std::chrono::milliseconds timeout) {
  const std::string running = RunningTest(generations);
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

void AddUnmet(const RegionReader& region, const std::set<std::string>& used, RunResult& result) {
  for (std::uint32_t id = 1; id < region.AllowanceCount(); ++id) {
    const AllowanceCopy allowance = region.Allowance(id);
    if (allowance.kind != AllowanceKind::kExpected) continue;
    const std::string place = fmt::format("{}:{}", allowance.file, allowance.line);
    if (used.contains(place)) continue;
    result.warnings.push_back(
        fmt::format("{}: {} was to leave memory outstanding and left none; remove the expectation",
                    place, region.Window(allowance.window).name));
  }
}

}  // namespace

std::vector<std::string> UnusedAllowances(const BudgetSet& budgets,
                                          const std::vector<WindowResult>& windows) {
  const std::set<std::string> used = UsedPlaces(windows);
  std::vector<std::string> lines;
  for (const BudgetFile* const file : budgets.Files()) {
    for (const Allowance& allowance : file->allowances) {
      const std::string place = fmt::format("{}:{}", file->path.string(), allowance.line);
      if (used.contains(place) || HasExpired(allowance.expires, Today())) continue;
      lines.push_back(fmt::format("{}: the allowance for {} was not used; remove it", place,
                                  fmt::join(allowance.stack, ", ")));
    }
  }
  return lines;
}

void AddUnmetExpectations(const Generations& generations, RunResult& result) {
  const std::set<std::string> used = UsedPlaces(result.windows);
  for (const auto& process : generations.processes()) AddUnmet(process->region(), used, result);
}

bool RunsAllTests(const std::vector<std::string>& arguments) {
  const bool is_filtered =
      std::any_of(arguments.begin(), arguments.end(), [](const std::string& argument) {
        return argument.find("gtest_filter") != std::string::npos ||
               argument.find("gtest_flagfile") != std::string::npos;
      });
  return !is_filtered && std::getenv("GTEST_FILTER") == nullptr &&
         std::getenv("GTEST_TOTAL_SHARDS") == nullptr;
}

}  // namespace leakgate
