#include <fmt/format.h>

#include <map>

#include "runner/attribution/leak_identity.h"
#include "runner/region/amount.h"
#include "runner/result/words.h"
#include "runner/results/history.h"
#include "runner/symbols/name_text.h"

namespace leakgate {
namespace {

// A history keeps the findings that counted, and those that count no more because a baseline has
// them.
bool IsKept(Disposition disposition) {
  return disposition == Disposition::kOutstanding || disposition == Disposition::kSteady ||
         disposition == Disposition::kUnconfirmed || disposition == Disposition::kKnown;
}

// Returns text such as "net::Pool::Grow (src/net/pool.cc)". It has no line number, because lines
// move.
std::string DescribeKnownSite(const Finding& finding) {
  if (finding.stack.empty()) return "an unknown call site";
  const Frame& frame = finding.stack[finding.user_frame.value_or(0)];
  const std::string name = QualifiedNameOf(frame.function);
  const std::string& place = frame.file.empty() ? frame.module : frame.file;
  if (name.empty()) return place;
  return place.empty() ? name : fmt::format("{} ({})", name, place);
}

// Findings with the same path count as one, whatever else differs in a report.
void AddFindings(const WindowResult& window, std::vector<HistoryFinding>& findings) {
  std::map<std::string, HistoryFinding> by_path;
  for (const Finding& finding : window.findings) {
    if (!IsKept(finding.disposition)) continue;
    HistoryFinding& known = by_path[SymbolicPath(finding.stack)];
    known.call_site = DescribeKnownSite(finding);
    known.component = finding.component.empty() ? window.budget->component : finding.component;
    known.bytes = AddSaturating(known.bytes, finding.amount.bytes);
    known.blocks = AddSaturating(known.blocks, finding.amount.blocks);
  }
  for (auto& [path, finding] : by_path) {
    finding.path = path;
    finding.test = window.name;
    findings.push_back(std::move(finding));
  }
}

}  // namespace

HistoryRun ToHistoryRun(const RunResult& run, const std::string& digest) {
  HistoryRun kept{digest, run.binary, RunWord(run.verdict), {}, {}};
  for (const WindowResult& window : run.windows) {
    if (window.kind != WindowKind::kTest) continue;
    kept.tests.push_back({window.name, window.budget->component, Word(window.verdict),
                          window.outstanding.bytes, window.outstanding.blocks,
                          window.peak_live_bytes});
    AddFindings(window, kept.findings);
  }
  return kept;
}

}  // namespace leakgate
