#include "runner/session/window_judge.h"

#include <algorithm>
#include <utility>

#include "runner/judgement/window_verdict.h"
#include "runner/session/symbolise_stack.h"

namespace leakgate {
namespace {

// Whether anything hangs on which blocks are lost.
bool AsksForReach(const AppliedBudget& budget) {
  return UsesDefaultPolicy(budget) || IsLimited(budget.lost) || IsLimited(budget.retained);
}

}  // namespace

WindowJudge::WindowJudge(RegionFile& file, const JudgeSurroundings& surroundings)
    : file_(file),
      region_(file.reader()),
      around_(surroundings),
      sites_([this](std::uint32_t stack) { return SymboliseStack(region_, stack, around_.symbolizer); }) {
  file_.Ask(kAskAtIterationEnd);
}

WindowResult WindowJudge::DescribeWindow(const WindowCopy& window) const {
  return Describe(window, region_, around_.sources, around_.binary_name);
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
    tests.push_back({test.name, DescribeWindow(test).source_file});
  }
  return around_.budgets.ForSuite(tests);
}

bool WindowJudge::FindBudget(const WindowCopy& window, WindowResult& result) {
  Expected<AppliedBudget> budget = BudgetOf(window, result);
  if (!budget) {
    result.verdict = Verdict::kInconclusive;
    result.reason = budget.error().message;
    return false;
  }
  if (*last_budget_ != *budget) {
    last_budget_ = std::make_shared<const AppliedBudget>(*std::move(budget));
  }
  result.budget = last_budget_;
  return true;
}

WindowResult WindowJudge::Pass(const WindowCopy& window) {
  WindowResult result = DescribeWindow(window);
  if (FindBudget(window, result)) DecideVerdict(result);
  return result;
}

WindowResult WindowJudge::Judge(const WindowCopy& window, const JudgeMoment& moment) {
  WindowResult result = DescribeWindow(window);
  if (!FindBudget(window, result)) return result;
  Expected<WindowEvidence> gathered = GatherEvidence(region_, window.id, moment.asking_tid);
  if (!gathered) {
    result.verdict = Verdict::kInconclusive;
    result.reason = gathered.error().message;
    return result;
  }
  WindowEvidence& evidence = *gathered;
  NameThreads(region_, window.id, evidence);
  if (window.kind == WindowKind::kProgram) RecallLost(evidence);
  if (moment.asking_tid != 0 && AsksForReach(*result.budget)) {
    result.reach_problem = TellReach(region_, file_.pid(), sites_, evidence);
  }
  MarkReplaced(region_, window.id, sites_, evidence);
  const bool is_open = window.kind == WindowKind::kTest && UsesDefaultPolicy(*result.budget);
  if (is_open) LeaveOpen(evidence);
  Conclude(evidence, result);
  result.growth = result.growth - result.framework;
  if (result.verdict == Verdict::kUnconfirmed) open_[window.id] = std::move(evidence);
  return result;
}

void WindowJudge::Conclude(const WindowEvidence& evidence, WindowResult& result) {
  result.findings = GroupFindings(evidence.blocks, evidence.facts, sites_);
  DecideVerdict(result);
}

void WindowJudge::NoteBegin(std::uint32_t) {}

void WindowJudge::EndIteration(int asking_tid, std::map<std::uint32_t, WindowResult>& results) {
  const Expected<HeapCopy> live = region_.CopyHeap();
  for (auto& [window, evidence] : std::exchange(open_, {})) {
    const auto result = results.find(window);
    if (!live || result == results.end()) continue;
    MarkReleased(live->blocks, "freed before the iteration ended", evidence);
    result->second.reach_problem = TellReach(region_, file_.pid(), sites_, evidence);
    Conclude(evidence, result->second);
  }
  FindLostOfProgram(asking_tid);
}

// What is lost before the program's own end; what static destructors leave is not
// looked at.
void WindowJudge::FindLostOfProgram(int asking_tid) {
  constexpr std::uint32_t kProgramWindow = 1;
  Expected<WindowEvidence> evidence = GatherEvidence(region_, kProgramWindow, asking_tid);
  if (!evidence || !TellReach(region_, file_.pid(), sites_, *evidence).empty()) return;
  lost_of_program_.clear();
  for (std::size_t i = 0; i < evidence->blocks.size(); ++i) {
    if (IsLost(evidence->facts[i].reach)) {
      lost_of_program_.push_back({evidence->blocks[i], evidence->facts[i].reach});
    }
  }
}

void WindowJudge::RecallLost(WindowEvidence& evidence) const {
  for (std::size_t i = 0; i < evidence.blocks.size(); ++i) {
    const auto found = std::find_if(
        lost_of_program_.begin(), lost_of_program_.end(),
        [&](const LostBlock& lost) { return IsSameBlock(lost.block, evidence.blocks[i]); });
    if (found != lost_of_program_.end()) evidence.facts[i].reach = found->reach;
  }
}

void WindowJudge::EndProgram(std::vector<WindowResult>&) {}

}  // namespace leakgate
