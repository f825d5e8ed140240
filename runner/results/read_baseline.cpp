#include "runner/results/read_baseline.h"

#include <algorithm>

#include "runner/attribution/leak_identity.h"

namespace leakgate {
namespace {

// Whether the window can have failed for it, or could not be told because of it.
bool CanBeReason(const Finding& finding) {
  return CountsLiterally(finding) || finding.disposition == Disposition::kKnown;
}

// Of findings that share a path the blocks are counted together.
struct PathCount {
  std::int64_t blocks = 0;
  bool counts = false;
};

void AddFindings(const WindowResult& window, BaselineWindow& known) {
  const bool is_bad =
      window.verdict == Verdict::kOverBudget || window.verdict == Verdict::kUnconfirmed;
  std::map<std::string, PathCount> counts;
  for (const Finding& finding : window.findings) {
    const bool can_be_reason = CanBeReason(finding);
    if (!can_be_reason && finding.disposition != Disposition::kReleasedLater) continue;
    PathCount& count = counts[SymbolicPath(finding.stack)];
    count.blocks = AddSaturating(count.blocks, std::max<std::int64_t>(finding.amount.blocks, 0));
    const bool is_known = finding.disposition == Disposition::kKnown;
    count.counts = count.counts || is_known || (is_bad && can_be_reason);
  }
  for (const auto& [path, count] : counts) {
    if (!count.counts) continue;
    std::int64_t& most = known.blocks[path];
    most = std::max(most, count.blocks);
  }
}

void AddWindow(const WindowResult& window, BaselineWindow& known) {
  AddFindings(window, known);
  for (const auto* const violations : {&window.violations, &window.known_violations}) {
    for (const Violation& violation : *violations) {
      const auto [most, is_new] = known.excess.try_emplace(violation.metric, violation.actual);
      most->second = std::max(most->second, violation.actual);
    }
  }
  for (const FreeErrorResult& error : window.free_errors) {
    known.free_errors.insert(FreeErrorIdentity(error.text, error.freed_at.stack));
  }
}

}  // namespace

Expected<Baseline> ReadBaseline(const std::filesystem::path& report,
                                const std::function<void(RunResult&&)>& on_run) {
  Baseline baseline{report.string(), {}};
  const Expected<void> read = ReadResults(report, [&](RunResult&& run, const RunPlace&) {
    for (const WindowResult& window : run.windows) {
      AddWindow(window, baseline.windows[WindowIdentity(window.kind, window.name)]);
    }
    if (on_run) on_run(std::move(run));
  });
  if (!read) return Unexpected(read.error());
  return baseline;
}

}  // namespace leakgate
