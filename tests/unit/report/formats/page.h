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
  std::vector<Json> baseline = {};
};

inline std::string Written(const std::vector<Json>& runs, Inputs inputs = {}) {
  std::ostringstream out;
  const ReportWriter writer = NewHtmlWriter(out, std::move(inputs.read_source));
  for (const Json& run : inputs.baseline) writer.add_baseline(run);
  for (const Json& run : runs) writer.add(RunReport(run));
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

inline Json FrameNamed(const std::string& function) {
  return {{"function", function}, {"file", "/src/pool.cc"}, {"line", 88},
          {"module", "/bin/t"},   {"offset", "0x1a"},       {"inlined", false}};
}

inline Json FindingOf(std::vector<Json> stack) {
  return {{"bytes", 64},
          {"blocks", 1},
          {"kind", "new"},
          {"disposition", "outstanding"},
          {"user_frame", 0},
          {"stack_end", "outermost"},
          {"stack", std::move(stack)}};
}

inline Json WindowOf(const std::string& name, std::vector<Json> findings) {
  return {{"kind", "test"},
          {"name", name},
          {"verdict", "over_budget"},
          {"outstanding", {{"bytes", 64}, {"blocks", 1}}},
          {"lost", {{"bytes", 0}, {"blocks", 0}}},
          {"findings", std::move(findings)}};
}

inline Json RunOf(std::vector<Json> windows) {
  return {{"schema", "leakgate-report-2"}, {"binary", "t"}, {"windows", std::move(windows)}};
}

}  // namespace leakgate::page
