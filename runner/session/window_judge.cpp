#include "runner/session/window_judge.h"

#include <algorithm>
#include <utility>

namespace leakgate {
namespace {

Amount Between(std::uint64_t bytes_before, std::uint64_t bytes_after, std::uint64_t blocks_before,
               std::uint64_t blocks_after) {
  return {static_cast<std::int64_t>(bytes_after - bytes_before),
          static_cast<std::int64_t>(blocks_after - blocks_before)};
}

Amount Allocated(const Totals& begin, const Totals& end) {
  return Between(begin.allocated_bytes, end.allocated_bytes, begin.allocated_blocks,
                 end.allocated_blocks);
}

Amount Freed(const Totals& begin, const Totals& end) {
  return Between(begin.freed_bytes, end.freed_bytes, begin.freed_blocks, end.freed_blocks);
}

}  // namespace

TestStatus StatusOf(const WindowCopy& window) {
  if (window.kind != WindowKind::kTest) return TestStatus::kNone;
  if (window.state != WindowState::kClosed) return TestStatus::kCrashed;
  switch (window.test_result) {
    case TestResult::kPassed:
      return TestStatus::kPassed;
    case TestResult::kFailed:
      return TestStatus::kFailed;
    case TestResult::kSkipped:
      return TestStatus::kSkipped;
    case TestResult::kNotPassed:
    case TestResult::kUnknown:
      break;
  }
  return TestStatus::kNotPassed;
}

WindowResult WindowJudge::Describe(const WindowCopy& window) const {
  WindowResult result;
  result.kind = window.kind;
  result.name = window.kind == WindowKind::kProgram ? around_.binary_name : window.name;
  result.iteration = window.iteration;
  result.status = StatusOf(window);
  result.source_file = window.file;
  result.source_line = window.line;
  const auto source = around_.sources.find(window.name);
  if (result.source_file.empty() && source != around_.sources.end()) {
    result.source_file = source->second.file;
    result.source_line = source->second.line;
  }
  // A window that is still open, the program's too, ends now.
  const Totals end = window.state == WindowState::kClosed ? window.end : region_.CurrentTotals();
  result.allocated = Allocated(window.begin, end);
  result.growth = result.allocated - Freed(window.begin, end);
  const std::uint64_t live_bytes = end.allocated_bytes - end.freed_bytes;
  result.peak_live_bytes = static_cast<std::int64_t>(std::max(window.peak_live_bytes, live_bytes));
  return result;
}

Expected<AppliedBudget> WindowJudge::BudgetOf(const WindowCopy& window,
                                              const WindowResult& described) const {
  if (window.kind == WindowKind::kProgram) return around_.budgets.ForProgram();
  if (window.kind == WindowKind::kTest) {
    return around_.budgets.ForTest({described.name, described.source_file});
  }
  std::vector<TestId> tests;
  for (std::uint32_t id = window.id + 1; id < region_.WindowCount(); ++id) {
    const WindowCopy test = region_.Window(id);
    if (test.parent != window.id || test.kind != WindowKind::kTest) continue;
    tests.push_back({test.name, Describe(test).source_file});
  }
  return around_.budgets.ForSuite(tests);
}

// Growth, like outstanding, is held against its limit without what the
// framework keeps.
void WindowJudge::Decide(const WindowCopy& window, WindowResult& result) {
  Expected<AppliedBudget> budget = BudgetOf(window, result);
  if (!budget) {
    result.verdict = Verdict::kInconclusive;
    result.reason = budget.error().message;
    return;
  }
  if (*last_budget_ != *budget) {
    last_budget_ = std::make_shared<const AppliedBudget>(*std::move(budget));
  }
  result.budget = last_budget_;
  if (!IsGated(*result.budget)) {
    result.verdict = Verdict::kNotGated;
    result.reason = "no budget limits it";
    return;
  }
  result.violations = leakgate::Judge({result.outstanding, result.growth}, *result.budget);
  result.verdict = result.violations.empty() ? Verdict::kPass : Verdict::kOverBudget;
}

WindowResult WindowJudge::Pass(const WindowCopy& window) {
  WindowResult result = Describe(window);
  Decide(window, result);
  return result;
}

WindowResult WindowJudge::Judge(const WindowCopy& window) {
  WindowResult result = Describe(window);
  const Expected<std::vector<LiveBlock>> blocks = region_.LiveBlocks(window.id);
  if (!blocks) {
    result.verdict = Verdict::kInconclusive;
    result.reason = blocks.error().message;
    return result;
  }
  result.findings = GroupFindings(
      *blocks, [this](std::uint32_t stack) -> const ResolvedStack& { return Resolve(stack); });
  for (const Finding& finding : result.findings) {
    (finding.framework_rule.empty() ? result.outstanding : result.framework) += finding.amount;
  }
  result.growth = result.growth - result.framework;
  Decide(window, result);
  return result;
}

const ResolvedStack& WindowJudge::Resolve(std::uint32_t stack) {
  const auto [known, is_new] = stacks_.try_emplace(stack);
  if (!is_new) return known->second;

  const RawStack raw = region_.Stack(stack);
  known->second.end = raw.end;
  for (const RawStack::Frame& frame : raw.frames) {
    for (Frame& symbolised :
         around_.symbolizer.Symbolize(region_.ModuleOf(frame.module), frame.pc)) {
      known->second.frames.push_back(std::move(symbolised));
    }
  }
  return known->second;
}

}  // namespace leakgate
