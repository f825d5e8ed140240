#include "runner/session/run_outcome.h"

#include <fmt/format.h>

#include <algorithm>

#include "runner/report/json/words.h"

namespace leakgate {
namespace {

bool HasVerdict(const RunResult& result, Verdict verdict) {
  return std::any_of(result.windows.begin(), result.windows.end(),
                     [=](const WindowResult& window) { return window.verdict == verdict; });
}

}  // namespace

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

void RefineStatuses(const TestStatuses& statuses, std::vector<WindowResult>& windows) {
  int last = 1;
  for (const WindowResult& window : windows) last = std::max(last, window.iteration);
  for (WindowResult& window : windows) {
    if (window.status != TestStatus::kNotPassed || window.iteration != last) continue;
    const auto found = statuses.find(window.name);
    if (found != statuses.end() && found->second != TestStatus::kPassed) {
      window.status = found->second;
    }
  }
}

void NoteUnended(const ProgramExit& program, std::vector<WindowResult>& windows) {
  for (WindowResult& window : windows) {
    const bool is_unended_test = window.status == TestStatus::kCrashed;
    const bool is_killed_program =
        window.kind == WindowKind::kProgram && program.signal.has_value();
    if (!is_unended_test && !is_killed_program) continue;
    window.violations.clear();
    window.reason =
        is_unended_test ? "the program ended while the test ran" : "the program was killed";
    if (window.verdict != Verdict::kNotGated) window.verdict = Verdict::kInconclusive;
  }
}

void WithdrawPasses(const std::string& reason, std::vector<WindowResult>& windows) {
  for (WindowResult& window : windows) {
    if (window.verdict != Verdict::kPass) continue;
    window.verdict = Verdict::kInconclusive;
    window.reason = reason;
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
  return std::all_of(result.windows.begin(), result.windows.end(), [&](const WindowResult& window) {
    // GoogleTest's stream does not tell a skipped test from a failed one; the
    // program's exit code does.
    const bool is_skipped =
        window.status == TestStatus::kSkipped ||
        (window.status == TestStatus::kNotPassed && result.program.ShellCode() == 0);
    return window.kind != WindowKind::kTest || is_skipped;
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
