// What an HTML report holds, for the tests of its writer.
#pragma once

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "runner/report/formats/html_writer.h"

namespace leakgate::page {

using Json = nlohmann::ordered_json;

struct Inputs {
  ReadSource read_source = {};
  std::vector<RunResult> baseline = {};
};

inline std::string Written(const std::vector<RunResult>& runs, Inputs inputs = {}) {
  std::ostringstream out;
  const ReportWriter writer = NewHtmlWriter(out, std::move(inputs.read_source));
  for (const RunResult& run : inputs.baseline) writer.add_baseline(run);
  for (const RunResult& run : runs) writer.add(run);
  writer.finish();
  return out.str();
}

// The text of the <script> element that the report is in.
inline std::string ScriptText(const std::string& html) {
  const std::string begin = R"(<script type="application/json" id="report">)";
  const std::size_t from = html.find(begin) + begin.size();
  return html.substr(from, html.find("</script", from) - from);
}

inline Json ReportIn(const std::string& html) { return Json::parse(ScriptText(html)); }

inline Frame FrameNamed(const std::string& function) {
  Frame frame;
  frame.function = function;
  frame.file = "/src/pool.cc";
  frame.line = 88;
  frame.module = "/bin/t";
  frame.module_offset = 0x1a;
  return frame;
}

inline Finding FindingOf(std::vector<Frame> stack) {
  Finding finding;
  finding.amount = {64, 1};
  finding.kind = AllocationKind::kNew;
  if (!stack.empty()) finding.user_frame = 0;
  finding.stack = std::move(stack);
  return finding;
}

inline WindowResult WindowOf(const std::string& name, std::vector<Finding> findings) {
  WindowResult window;
  window.name = name;
  window.verdict = Verdict::kOverBudget;
  window.outstanding = {64, 1};
  window.findings = std::move(findings);
  return window;
}

inline RunResult RunOf(std::vector<WindowResult> windows) {
  RunResult run;
  run.binary = "t";
  run.windows = std::move(windows);
  return run;
}

}  // namespace leakgate::page
