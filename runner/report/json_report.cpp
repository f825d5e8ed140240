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

constexpr std::size_t kMostOfFinding = 17;
constexpr std::size_t kMostOfWindow = 38;

// An object in the making. A report has a hundred thousand, and a list of pairs, as
// Json takes it, would be made of three values for each of their members.
class Object {
 public:
  // Room for `most` members: more are slow, fewer waste memory.
  explicit Object(std::size_t most) { members_.reserve(most); }

  // REQUIRES: there is no `key` yet.
  template <typename T>
  void Add(const char* key, T&& value) {
    members_.emplace_back(key, Json(std::forward<T>(value)));
  }
  [[nodiscard]] Json Take() { return Json(std::move(members_)); }

 private:
  Json::object_t members_;
};

Json Value(const Finding& finding);

Json Value(const Amount& amount) {
  Object object(2);
  object.Add("bytes", amount.bytes);
  object.Add("blocks", amount.blocks);
  return object.Take();
}

Json Value(const Frame& frame) {
  Object object(6);
  object.Add("function", frame.function);
  object.Add("file", frame.file);
  object.Add("line", frame.line);
  object.Add("module", frame.module);
  object.Add("offset", fmt::format("{:#x}", frame.module_offset));
  object.Add("inlined", frame.inlined);
  return object.Take();
}

Json Value(const Violation& violation) {
  const LimitSource& source = violation.limit.source;
  const bool is_default = source.file.empty();
  Object json(7);
  json.Add("metric", violation.metric);
  json.Add("actual", violation.actual);
  json.Add("limit", violation.limit.value);
  json.Add("file", TextOrNull(source.file));
  json.Add("line", is_default ? Json(nullptr) : Json(source.line));
  json.Add("reason", TextOrNull(source.reason));
  json.Add("component", TextOrNull(violation.component));
  return json.Take();
}

void AddBaseline(BaselineState state, Object& json) {
  if (state != BaselineState::kNoBaseline) json.Add("baseline", Word(state));
}

Json Value(const MeasuringWindowResult& window) {
  Json json = {{"name", window.name}};
  if (!window.file.empty()) json["file"] = window.file;
  if (window.line != 0) json["line"] = window.line;
  json["count"] = window.count;
  if (window.open_count != 0) json["open_count"] = window.open_count;
  json["outstanding"] = Value(window.outstanding);
  return json;
}

Json Value(const FreeErrorResult& error) {
  Object json(4);
  json.Add("text", error.text);
  json.Add("freed_at", Value(error.freed_at));
  json.Add("made_at", Value(error.made_at));
  AddBaseline(error.baseline, json);
  return json.Take();
}

// Always an array, also of none.
template <typename T>
Json Values(const std::vector<T>& values) {
  Json::array_t array;
  array.reserve(values.size());
  for (const T& value : values) array.push_back(Value(value));
  return array;
}

Json Value(const Finding& finding) {
  Object json(kMostOfFinding);
  json.Add("bytes", finding.amount.bytes);
  json.Add("blocks", finding.amount.blocks);
  json.Add("kind", Word(finding.kind));
  if (!finding.framework_rule.empty()) json.Add("framework_rule", finding.framework_rule);
  json.Add("disposition", Word(finding.disposition));
  AddBaseline(finding.baseline, json);
  if (!finding.explanation.empty()) json.Add("explanation", finding.explanation);
  if (finding.reach != Reach::kUnknown) json.Add("reach", Word(finding.reach));
  if (!finding.holder.empty()) json.Add("holder", finding.holder);
  if (!finding.series.empty()) json.Add("series", finding.series);
  if (!finding.allowance.empty()) json.Add("allowance", finding.allowance);
  if (!finding.component.empty()) json.Add("component", finding.component);
  if (!finding.thread.empty()) json.Add("thread", finding.thread);
  json.Add("user_frame", ValueOrNull(finding.user_frame));
  json.Add("stack_end", Word(finding.stack_end));
  json.Add("stack", Values(finding.stack));
  return json.Take();
}

void AddIdentity(const WindowResult& window, Object& json) {
  json.Add("kind", Word(window.kind));
  json.Add("name", window.name);
  if (!window.started_by.empty()) json.Add("started_by", window.started_by);
  json.Add("iteration", window.iteration);
  const bool has_result = window.kind == WindowKind::kTest && window.status != TestStatus::kNone;
  if (has_result) json.Add("test_result", Word(window.status));
  json.Add("verdict", Word(window.verdict));
  if (!window.reason.empty()) json.Add("reason", window.reason);
  if (!window.source_file.empty()) json.Add("source_file", window.source_file);
  if (window.source_line != 0) json.Add("source_line", window.source_line);
  json.Add("component", TextOrNull(window.budget->component));
  json.Add("owner", TextOrNull(window.budget->owner));
}

void AddMapped(const WindowResult& window, Object& json) {
  if (window.mapped != Amount{} || IsLimited(window.budget->mapped)) {
    json.Add("mapped_bytes", window.mapped.bytes);
    json.Add("mapped_blocks", window.mapped.blocks);
  }
  if (window.reserved_bytes != 0) json.Add("reserved_bytes", window.reserved_bytes);
  if (!window.mappings.empty()) json.Add("mappings", Values(window.mappings));
}

Json Value(const WindowResult& window, std::chrono::nanoseconds run_begin) {
  Object json(kMostOfWindow);
  AddIdentity(window, json);
  json.Add("begin_seconds", Seconds(window.begin - run_begin));
  json.Add("end_seconds", Seconds(window.end - run_begin));
  json.Add("outstanding", Value(window.outstanding));
  json.Add("lost", Value(window.lost));
  json.Add("retained", Value(window.retained));
  json.Add("allowed", Value(window.allowed));
  if (window.known != Amount{}) json.Add("known", Value(window.known));
  json.Add("framework", Value(window.framework));
  json.Add("growth", Value(window.growth));
  json.Add("allocated", Value(window.allocated));
  json.Add("live_bytes",
           Json{{"begin", window.live_bytes_at_begin}, {"end", window.live_bytes_at_end}});
  json.Add("peak_live_bytes", window.peak_live_bytes);
  AddMapped(window, json);
  if (window.file_descriptors) json.Add("file_descriptors", *window.file_descriptors);
  if (window.threads) json.Add("threads", *window.threads);
  if (!window.left_behind.empty()) json.Add("left_behind", window.left_behind);
  if (!window.reach_problem.empty()) json.Add("reach_problem", window.reach_problem);
  json.Add("violations", Values(window.violations));
  if (!window.known_violations.empty())
    json.Add("known_violations", Values(window.known_violations));
  if (!window.free_errors.empty()) json.Add("free_errors", Values(window.free_errors));
  json.Add("findings", Values(window.findings));
  if (!window.measuring_windows.empty()) {
    json.Add("measuring_windows", Values(window.measuring_windows));
  }
  return json.Take();
}

Json Value(const TracingResult& tracing) {
  Json json = {{"boundaries", Word(tracing.boundaries)},
               {"generations", tracing.generations},
               {"drops", Json(tracing.drops)},
               {"stack_ends", Json(tracing.stack_ends)},
               {"stacks",
                {{"proved", tracing.stacks_proved},
                 {"walked", tracing.stacks_walked},
                 {"unprovable", tracing.stacks_unprovable},
                 {"frames_walked", tracing.frames_walked},
                 {"frames_without_rule", tracing.frames_without_rule}}}};
  if (tracing.mapped != Amount{}) json["mapped"] = Value(tracing.mapped);
  return json;
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
  writer.add(RunReport(ToRunReport(result)));
  writer.finish();
  return text.str();
}

}  // namespace leakgate
