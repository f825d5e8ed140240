#include "runner/report/read_run_report.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "runner/report/excess.h"
#include "runner/report/json_words.h"

namespace leakgate {
namespace {

using Json = nlohmann::ordered_json;

// The enumerator from `first` to `last` that the report has `word` for; `last` if none.
template <typename Enum>
Enum EnumeratorOf(const std::string& word, Enum first, Enum last) {
  for (int i = static_cast<int>(first); i < static_cast<int>(last); ++i) {
    if (word == Word(static_cast<Enum>(i))) return static_cast<Enum>(i);
  }
  return last;
}

Verdict RunVerdictOf(const std::string& word) {
  for (const Verdict verdict : {Verdict::kPass, Verdict::kOverBudget, Verdict::kUnconfirmed}) {
    if (word == RunWord(verdict)) return verdict;
  }
  return Verdict::kInconclusive;
}

// Absent and null are the same: nothing.
template <typename T>
T ValueOr(const Json& object, const char* key, T none) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? none : found->template get<T>();
}

template <typename T>
std::optional<T> Optional(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return std::nullopt;
  return found->template get<T>();
}

std::chrono::nanoseconds Duration(const Json& json, const char* key) {
  const std::chrono::duration<double> seconds(ValueOr(json, key, 0.0));
  return std::chrono::round<std::chrono::nanoseconds>(seconds);
}

std::string Text(const Json& object, const char* key) {
  return ValueOr<std::string>(object, key, "");
}

Amount AmountOf(const Json& object) {
  return {object.at("bytes").get<std::int64_t>(), object.at("blocks").get<std::int64_t>()};
}

std::uint64_t OffsetOf(const std::string& hexadecimal) {
  std::uint64_t offset = 0;
  if (!hexadecimal.starts_with("0x")) return offset;
  std::from_chars(hexadecimal.data() + 2, hexadecimal.data() + hexadecimal.size(), offset, 16);
  return offset;
}

Frame FrameOf(const Json& json) {
  Frame frame;
  frame.function = Text(json, "function");
  frame.file = Text(json, "file");
  frame.line = ValueOr(json, "line", 0);
  frame.module = Text(json, "module");
  frame.module_offset = OffsetOf(Text(json, "offset"));
  frame.inlined = ValueOr(json, "inlined", false);
  return frame;
}

BaselineState BaselineOf(const Json& json) {
  const std::string word = Text(json, "baseline");
  return word.empty() ? BaselineState::kNoBaseline
                      : EnumeratorOf(word, BaselineState::kKnown, BaselineState::kNew);
}

Finding FindingOf(const Json& json) {
  Finding finding;
  finding.amount = AmountOf(json);
  finding.kind = EnumeratorOf(json.at("kind").get<std::string>(), AllocationKind::kMalloc,
                              AllocationKind::kThreadStack);
  for (const Json& frame : json.at("stack")) finding.stack.push_back(FrameOf(frame));
  finding.stack_end = EnumeratorOf(json.at("stack_end").get<std::string>(), UnwindEnd::kOutermost,
                                   UnwindEnd::kNotTaken);
  finding.user_frame = Optional<std::size_t>(json, "user_frame");
  const bool is_outside = finding.user_frame && *finding.user_frame >= finding.stack.size();
  if (is_outside) finding.user_frame.reset();
  finding.framework_rule = Text(json, "framework_rule");
  const std::string reach = Text(json, "reach");
  finding.reach =
      reach.empty() ? Reach::kUnknown : EnumeratorOf(reach, Reach::kUnknown, Reach::kRetained);
  finding.holder = Text(json, "holder");
  finding.disposition = EnumeratorOf(json.at("disposition").get<std::string>(),
                                     Disposition::kOutstanding, Disposition::kKnown);
  finding.explanation = Text(json, "explanation");
  finding.series = ValueOr<std::vector<std::int64_t>>(json, "series", {});
  finding.component = Text(json, "component");
  finding.thread = Text(json, "thread");
  finding.allowance = Text(json, "allowance");
  finding.baseline = BaselineOf(json);
  return finding;
}

// The whole amount of the quantity that `violation` is of. One that a component's
// code left is told by the findings that are charged to it, as is what grows.
Amount AmountOver(const Violation& violation, const WindowResult& window) {
  if (violation.component == window.budget->component) {
    if (IsOf(violation, "outstanding")) return window.outstanding;
    if (IsOf(violation, "lost")) return window.lost;
    if (IsOf(violation, "retained")) return window.retained;
    if (IsOf(violation, "growth")) return window.growth;
    if (IsOf(violation, "allocated")) return window.allocated;
    if (IsOf(violation, "mapped")) return window.mapped;
  }
  Amount amount;
  const bool is_mapped = IsOf(violation, "mapped");
  for (const Finding& finding : is_mapped ? window.mappings : window.findings) {
    const std::string& owner =
        finding.component.empty() ? window.budget->component : finding.component;
    const bool is_of = IsOf(violation, "steady")     ? finding.disposition == Disposition::kSteady
                       : IsOf(violation, "lost")     ? IsLost(finding.reach)
                       : IsOf(violation, "retained") ? !IsLost(finding.reach)
                                                     : IsUsers(finding);
    if (is_of && owner == violation.component) amount += finding.amount;
  }
  return amount;
}

Violation ViolationOf(const Json& json) {
  Violation violation;
  violation.metric = json.at("metric").get<std::string>();
  violation.actual = json.at("actual").get<std::int64_t>();
  violation.limit.value = json.at("limit").get<std::int64_t>();
  violation.limit.source = {Text(json, "file"), ValueOr(json, "line", 0), Text(json, "reason")};
  violation.component = Text(json, "component");
  return violation;
}

// What the violation itself tells goes before what its window tells.
void FillAmounts(WindowResult& window) {
  for (Violation& violation : window.violations) violation.amount = AmountOver(violation, window);
  SetToldAmounts(window.violations);
}

void AddCodeBudgets(WindowResult& window) {
  std::set<std::string> known = {window.budget->component, ""};
  for (const Violation& violation : window.violations) {
    if (!known.insert(violation.component).second) continue;
    AppliedBudget budget;
    budget.component = violation.component;
    window.code_budgets.push_back(std::make_shared<const AppliedBudget>(std::move(budget)));
  }
}

FreeErrorResult FreeErrorOf(const Json& json) {
  return {json.at("text").get<std::string>(), FindingOf(json.at("freed_at")),
          FindingOf(json.at("made_at")), BaselineOf(json)};
}

MeasuringWindowResult MeasuringWindowOf(const Json& json) {
  MeasuringWindowResult window;
  window.name = json.at("name").get<std::string>();
  window.file = Text(json, "file");
  window.line = ValueOr(json, "line", 0);
  window.count = json.at("count").get<std::int64_t>();
  window.open_count = ValueOr<std::int64_t>(json, "open_count", 0);
  window.outstanding = AmountOf(json.at("outstanding"));
  return window;
}

void ReadIdentity(const Json& json, WindowResult& window) {
  window.kind =
      EnumeratorOf(json.at("kind").get<std::string>(), WindowKind::kProgram, WindowKind::kProcess);
  window.name = json.at("name").get<std::string>();
  window.started_by = Text(json, "started_by");
  window.iteration = ValueOr(json, "iteration", 1);
  const std::string status = Text(json, "test_result");
  if (!status.empty()) {
    window.status = EnumeratorOf(status, TestStatus::kPassed, TestStatus::kCrashed);
  }
  window.verdict =
      EnumeratorOf(json.at("verdict").get<std::string>(), Verdict::kPass, Verdict::kUnconfirmed);
  window.reason = Text(json, "reason");
  window.source_file = Text(json, "source_file");
  window.source_line = ValueOr(json, "source_line", 0);
  AppliedBudget budget;
  budget.component = Text(json, "component");
  budget.owner = Text(json, "owner");
  window.budget = std::make_shared<const AppliedBudget>(std::move(budget));
}

WindowResult WindowOf(const Json& json) {
  WindowResult window;
  ReadIdentity(json, window);
  window.outstanding = AmountOf(json.at("outstanding"));
  window.lost = AmountOf(json.at("lost"));
  window.retained = AmountOf(json.at("retained"));
  window.allowed = AmountOf(json.at("allowed"));
  if (json.contains("known")) window.known = AmountOf(json.at("known"));
  window.framework = AmountOf(json.at("framework"));
  window.growth = AmountOf(json.at("growth"));
  window.allocated = AmountOf(json.at("allocated"));
  window.begin = Duration(json, "begin_seconds");
  window.end = Duration(json, "end_seconds");
  if (const auto live = json.find("live_bytes"); live != json.end()) {
    window.live_bytes_at_begin = live->at("begin").get<std::int64_t>();
    window.live_bytes_at_end = live->at("end").get<std::int64_t>();
  }
  window.peak_live_bytes = ValueOr<std::int64_t>(json, "peak_live_bytes", 0);
  window.mapped = {ValueOr<std::int64_t>(json, "mapped_bytes", 0),
                   ValueOr<std::int64_t>(json, "mapped_blocks", 0)};
  window.reserved_bytes = ValueOr<std::int64_t>(json, "reserved_bytes", 0);
  for (const Json& mapping : ValueOr<Json>(json, "mappings", Json::array())) {
    window.mappings.push_back(FindingOf(mapping));
  }
  window.file_descriptors = Optional<std::int64_t>(json, "file_descriptors");
  window.threads = Optional<std::int64_t>(json, "threads");
  window.left_behind = ValueOr<std::vector<std::string>>(json, "left_behind", {});
  window.reach_problem = Text(json, "reach_problem");
  for (const Json& violation : json.at("violations")) {
    window.violations.push_back(ViolationOf(violation));
  }
  for (const Json& violation : ValueOr<Json>(json, "known_violations", Json::array())) {
    window.known_violations.push_back(ViolationOf(violation));
  }
  for (const Json& error : ValueOr<Json>(json, "free_errors", Json::array())) {
    window.free_errors.push_back(FreeErrorOf(error));
  }
  for (const Json& finding : json.at("findings")) window.findings.push_back(FindingOf(finding));
  for (const Json& measured : ValueOr<Json>(json, "measuring_windows", Json::array())) {
    window.measuring_windows.push_back(MeasuringWindowOf(measured));
  }
  FillAmounts(window);
  AddCodeBudgets(window);
  return window;
}

TracingResult TracingOf(const Json& json) {
  TracingResult tracing;
  tracing.boundaries = EnumeratorOf(json.at("boundaries").get<std::string>(), BoundarySource::kNone,
                                    BoundarySource::kListener);
  tracing.generations = ValueOr(json, "generations", 1);
  for (const auto& item : json.at("drops").items()) {
    tracing.drops[item.key()] = item.value().get<std::uint64_t>();
  }
  for (const auto& item : json.at("stack_ends").items()) {
    tracing.stack_ends[item.key()] = item.value().get<std::uint64_t>();
  }
  const Json& stacks = json.at("stacks");
  tracing.stacks_proved = stacks.at("proved").get<std::uint64_t>();
  tracing.stacks_walked = stacks.at("walked").get<std::uint64_t>();
  tracing.stacks_unprovable = stacks.at("unprovable").get<std::uint64_t>();
  tracing.frames_walked = stacks.at("frames_walked").get<std::uint64_t>();
  tracing.frames_without_rule = stacks.at("frames_without_rule").get<std::uint64_t>();
  if (const auto mapped = json.find("mapped"); mapped != json.end()) {
    tracing.mapped = AmountOf(*mapped);
  }
  return tracing;
}

}  // namespace

RunResult ReadRunReport(const Json& run) {
  RunResult result;
  result.binary = run.at("binary").get<std::string>();
  result.arguments = run.at("arguments").get<std::vector<std::string>>();
  result.verdict = RunVerdictOf(run.at("verdict").get<std::string>());
  result.mode =
      EnumeratorOf(run.at("mode").get<std::string>(), GateMode::kGate, GateMode::kWarnOnly);
  if (const auto shard = run.find("shard"); shard != run.end()) {
    result.shard = {shard->at("index").get<int>(), shard->at("total").get<int>()};
  }
  result.baseline = Text(run, "baseline");
  result.reasons = run.at("reasons").get<std::vector<std::string>>();
  result.failures = run.at("failures").get<std::vector<std::string>>();
  result.warnings = run.at("warnings").get<std::vector<std::string>>();
  result.exit_code = run.at("exit_code").get<int>();
  result.program = {Optional<int>(run.at("program"), "exit_code"),
                    Optional<int>(run.at("program"), "signal")};
  result.tracing = TracingOf(run.at("tracing"));
  for (const Json& window : run.at("windows")) result.windows.push_back(WindowOf(window));
  result.wall = Duration(run, "wall_seconds");
  result.gating = Duration(run, "gating_seconds");
  result.confirming = Duration(run, "confirming_seconds");
  return result;
}

}  // namespace leakgate
