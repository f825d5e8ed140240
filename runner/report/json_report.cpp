#include "runner/report/json_report.h"

#include <fmt/format.h>

#include <sstream>

#include "runner/report/json_words.h"
#include "runner/report/json_writer.h"

namespace leakgate {
namespace {

using Json = nlohmann::ordered_json;

Json TextOrNull(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

template <typename T>
Json ValueOrNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

double Seconds(std::chrono::nanoseconds duration) {
  return std::chrono::duration<double>(duration).count();
}

Json Value(const Finding& finding);

Json Value(const Amount& amount) { return {{"bytes", amount.bytes}, {"blocks", amount.blocks}}; }

Json Value(const Frame& frame) {
  return {{"function", frame.function},
          {"file", frame.file},
          {"line", frame.line},
          {"module", frame.module},
          {"offset", fmt::format("{:#x}", frame.module_offset)},
          {"inlined", frame.inlined}};
}

Json Value(const Violation& violation) {
  const LimitSource& source = violation.limit.source;
  const bool is_default = source.file.empty();
  return {{"metric", violation.metric},
          {"actual", violation.actual},
          {"limit", violation.limit.value},
          {"file", TextOrNull(source.file)},
          {"line", is_default ? Json(nullptr) : Json(source.line)},
          {"reason", TextOrNull(source.reason)},
          {"component", TextOrNull(violation.component)}};
}

void AddBaseline(BaselineState state, Json& json) {
  if (state != BaselineState::kNoBaseline) json["baseline"] = Word(state);
}

Json Value(const FreeErrorResult& error) {
  Json json = {
      {"text", error.text}, {"freed_at", Value(error.freed_at)}, {"made_at", Value(error.made_at)}};
  AddBaseline(error.baseline, json);
  return json;
}

// Always an array, also of none.
template <typename T>
Json Values(const std::vector<T>& values) {
  Json array = Json::array();
  for (const T& value : values) array.push_back(Value(value));
  return array;
}

Json Value(const Finding& finding) {
  Json json = Value(finding.amount);
  json["kind"] = Word(finding.kind);
  if (!finding.framework_rule.empty()) json["framework_rule"] = finding.framework_rule;
  json["disposition"] = Word(finding.disposition);
  AddBaseline(finding.baseline, json);
  if (!finding.explanation.empty()) json["explanation"] = finding.explanation;
  if (finding.reach != Reach::kUnknown) json["reach"] = Word(finding.reach);
  if (!finding.holder.empty()) json["holder"] = finding.holder;
  if (!finding.series.empty()) json["series"] = finding.series;
  if (!finding.allowance.empty()) json["allowance"] = finding.allowance;
  if (!finding.component.empty()) json["component"] = finding.component;
  if (!finding.thread.empty()) json["thread"] = finding.thread;
  json["user_frame"] = ValueOrNull(finding.user_frame);
  json["stack_end"] = Word(finding.stack_end);
  json["stack"] = Values(finding.stack);
  return json;
}

void AddIdentity(const WindowResult& window, Json& json) {
  json["kind"] = Word(window.kind);
  json["name"] = window.name;
  if (!window.started_by.empty()) json["started_by"] = window.started_by;
  json["iteration"] = window.iteration;
  const bool has_result = window.kind == WindowKind::kTest && window.status != TestStatus::kNone;
  if (has_result) json["test_result"] = Word(window.status);
  json["verdict"] = Word(window.verdict);
  if (!window.reason.empty()) json["reason"] = window.reason;
  if (!window.source_file.empty()) json["source_file"] = window.source_file;
  if (window.source_line != 0) json["source_line"] = window.source_line;
  json["component"] = TextOrNull(window.budget->component);
  json["owner"] = TextOrNull(window.budget->owner);
}

Json Value(const WindowResult& window, std::chrono::nanoseconds run_begin) {
  Json json;
  AddIdentity(window, json);
  json["begin_seconds"] = Seconds(window.begin - run_begin);
  json["end_seconds"] = Seconds(window.end - run_begin);
  json["outstanding"] = Value(window.outstanding);
  json["lost"] = Value(window.lost);
  json["retained"] = Value(window.retained);
  json["allowed"] = Value(window.allowed);
  if (window.known != Amount{}) json["known"] = Value(window.known);
  json["framework"] = Value(window.framework);
  json["growth"] = Value(window.growth);
  json["allocated"] = Value(window.allocated);
  json["live_bytes"] = {{"begin", window.live_bytes_at_begin}, {"end", window.live_bytes_at_end}};
  json["peak_live_bytes"] = window.peak_live_bytes;
  if (window.mapped_bytes) json["mapped_bytes"] = *window.mapped_bytes;
  if (window.file_descriptors) json["file_descriptors"] = *window.file_descriptors;
  if (window.threads) json["threads"] = *window.threads;
  if (!window.left_behind.empty()) json["left_behind"] = window.left_behind;
  if (!window.reach_problem.empty()) json["reach_problem"] = window.reach_problem;
  json["violations"] = Values(window.violations);
  if (!window.known_violations.empty()) json["known_violations"] = Values(window.known_violations);
  if (!window.free_errors.empty()) json["free_errors"] = Values(window.free_errors);
  json["findings"] = Values(window.findings);
  return json;
}

Json Value(const TracingResult& tracing) {
  return {{"boundaries", Word(tracing.boundaries)},
          {"generations", tracing.generations},
          {"drops", Json(tracing.drops)},
          {"stack_ends", Json(tracing.stack_ends)},
          {"stacks",
           {{"proved", tracing.stacks_proved},
            {"walked", tracing.stacks_walked},
            {"unprovable", tracing.stacks_unprovable},
            {"frames_walked", tracing.frames_walked},
            {"frames_without_rule", tracing.frames_without_rule}}}};
}

Json Value(const ProgramExit& program) {
  return {{"exit_code", ValueOrNull(program.exit_code)}, {"signal", ValueOrNull(program.signal)}};
}

}  // namespace

Json ToRunReport(const RunResult& result) {
  Json json;
  json["schema"] = "leakgate-report-2";
  json["binary"] = result.binary;
  json["arguments"] = result.arguments;
  json["verdict"] = RunWord(result.verdict);
  json["exit_code"] = result.exit_code;
  json["program"] = Value(result.program);
  json["mode"] = Word(result.mode);
  if (result.shard) {
    json["shard"] = {{"index", result.shard->index}, {"total", result.shard->total}};
  }
  if (!result.baseline.empty()) json["baseline"] = result.baseline;
  json["reasons"] = result.reasons;
  json["failures"] = result.failures;
  json["warnings"] = result.warnings;
  json["tracing"] = Value(result.tracing);
  json["wall_seconds"] = Seconds(result.wall);
  json["gating_seconds"] = Seconds(result.gating);
  json["confirming_seconds"] = Seconds(result.confirming);
  json["windows"] = Json::array();
  for (const WindowResult& window : result.windows) {
    json["windows"].push_back(Value(window, result.begin));
  }
  return json;
}

std::string ToJson(const RunResult& result) {
  std::ostringstream text;
  const ReportWriter writer = NewJsonWriter(text);
  writer.add(ToRunReport(result));
  writer.finish();
  return text.str();
}

}  // namespace leakgate
