#include "runner/cli/history_run.h"

#include <fmt/format.h>

#include <map>

#include "runner/judge/baseline.h"
#include "runner/merge/report_values.h"
#include "runner/symbols/name_text.h"

namespace leakgate {
namespace {

using Json = nlohmann::ordered_json;

bool Counts(const std::string& disposition) {
  return disposition == "outstanding" || disposition == "steady" || disposition == "unconfirmed" ||
         disposition == "known";
}

// "net::Pool::Grow (src/net/pool.cc)": lines move.
std::string CallSiteOf(const Json& finding, const std::vector<Frame>& stack) {
  if (stack.empty()) return "an unknown call site";
  const auto user_frame = static_cast<std::size_t>(NumberOf(finding, "user_frame"));
  const Frame& frame = stack[user_frame < stack.size() ? user_frame : 0];
  const std::string name = QualifiedNameOf(frame.function);
  const std::string& place = frame.file.empty() ? frame.module : frame.file;
  if (name.empty()) return place;
  return place.empty() ? name : fmt::format("{} ({})", name, place);
}

// Findings of one path are one, whatever else tells them apart in a report.
void AddFindings(const Json& window, std::vector<HistoryFinding>& findings) {
  std::map<std::string, HistoryFinding> by_path;
  for (const Json& finding : ElementsOf(window, "findings")) {
    if (!Counts(TextOf(finding, "disposition"))) continue;
    const std::vector<Frame> stack = StackOf(finding);
    HistoryFinding& known = by_path[SymbolicPath(stack)];
    known.call_site = CallSiteOf(finding, stack);
    known.component = TextOf(finding, "component");
    if (known.component.empty()) known.component = TextOf(window, "component");
    known.bytes += NumberOf(finding, "bytes");
    known.blocks += NumberOf(finding, "blocks");
  }
  for (auto& [path, finding] : by_path) {
    finding.path = path;
    finding.test = TextOf(window, "name");
    findings.push_back(std::move(finding));
  }
}

}  // namespace

HistoryRun ToHistoryRun(const Json& report, const std::string& digest) {
  HistoryRun run{digest, TextOf(report, "binary"), TextOf(report, "verdict"), {}, {}};
  for (const Json& window : ElementsOf(report, "windows")) {
    if (TextOf(window, "kind") != "test") continue;
    const Json& outstanding = MemberOf(window, "outstanding");
    run.tests.push_back({TextOf(window, "name"), TextOf(window, "component"),
                         TextOf(window, "verdict"), NumberOf(outstanding, "bytes"),
                         NumberOf(outstanding, "blocks"), NumberOf(window, "peak_live_bytes")});
    AddFindings(window, run.findings);
  }
  return run;
}

}  // namespace leakgate
