#include "runner/report/formats/html_writer.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "runner/report/compared_run.h"
#include "runner/report/formats/html_template.h"
#include "runner/report/formats/page_tables.h"
#include "runner/report/formats/script_json.h"
#include "runner/report/json_access.h"

namespace leakgate {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array kInternedKeys = {"kind",        "test_result", "verdict", "reason",
                                      "source_file", "component",   "owner",   "reach_problem"};

bool IsInterned(const std::string& key) {
  return std::find(kInternedKeys.begin(), kInternedKeys.end(), key) != kInternedKeys.end();
}

bool IsAmount(const Json& value) {
  return value.is_object() && value.size() == 2 && value.contains("bytes") &&
         value.contains("blocks");
}

// Trailing zeros are left out: the page takes what is missing for 0.
Json WithoutTrailingZeros(Json numbers) {
  while (!numbers.empty() && numbers.back() == 0) numbers.erase(numbers.size() - 1);
  return numbers;
}

// The template up to the report, and from there on.
std::pair<std::string_view, std::string_view> TemplateHalves() {
  const std::string_view page = HtmlTemplate();
  const std::size_t mark = page.find(kHtmlReportMark);
  if (mark == std::string_view::npos) return {page, {}};
  return {page.substr(0, mark), page.substr(mark + kHtmlReportMark.size())};
}

class HtmlWriter {
 public:
  HtmlWriter(std::ostream& out, ReadSource read_source)
      : out_(out), read_source_(std::move(read_source)) {
    out_ << TemplateHalves().first << "{\"baseline\":[\n";
  }

  void AddBaseline(const Json& run) { WriteNext(ComparedRun(run)); }

  void Add(const Json& run) {
    EndBaseline();
    WriteNext(run);
  }

  void Finish() {
    EndBaseline();
    out_ << ']';
    const Json tables = tables_.ToJson();
    for (const auto& [name, table] : tables.items()) WriteMember(name, table);
    WriteMember("sources", sources_.Read(read_source_));
    out_ << '}' << TemplateHalves().second;
  }

 private:
  void EndBaseline() {
    if (!std::exchange(is_baseline_, false)) return;
    out_ << "],\n\"runs\":[\n";
    has_runs_ = false;
  }

  void WriteNext(const Json& run) {
    if (std::exchange(has_runs_, true)) out_ << ",\n";
    WriteRun(run);
  }

  void WriteMember(const std::string& name, const Json& value) {
    out_ << ",\n\"" << name << "\":" << ScriptJson(value);
  }

  // A window at a time, so that a run is not held twice.
  void WriteRun(const Json& run) {
    Json report = Json::object();
    for (const auto& [key, value] : run.items()) {
      if (key != "windows") report[key] = value;
    }
    out_ << "{\"report\":" << ScriptJson(report) << ",\n\"windows\":[";
    bool is_first = true;
    for (const Json& window : MemberOf(run, "windows")) {
      out_ << (is_first ? "\n" : ",\n") << ScriptJson(Window(window));
      is_first = false;
    }
    out_ << "]}";
  }

  Json Window(const Json& window) {
    const std::string& verdict = TextOf(window, "verdict");
    const bool is_quiet = verdict == "pass" || verdict == "not_gated";
    rank_ = is_quiet ? SourceRank::kThen : SourceRank::kFirst;
    Json result = Json::object();
    if (!window.is_object()) return result;
    for (const auto& [key, value] : window.items()) AddMember(key, value, result);
    return result;
  }

  void AddMember(const std::string& key, const Json& value, Json& window) {
    if (value.is_null() || (value.is_array() && value.empty())) return;
    if (key == "findings" || key == "mappings") {
      window[key] = Findings(value);
    } else if (key == "free_errors") {
      window[key] = FreeErrors(value);
    } else if (value.is_string() && IsInterned(key)) {
      window[key] = tables_.String(value.get_ref<const std::string&>());
    } else if (IsAmount(value)) {
      AddAmount(key, value, window);
    } else {
      window[key] = value;
    }
  }

  static void AddAmount(const std::string& key, const Json& amount, Json& window) {
    const std::int64_t bytes = NumberOf(amount, "bytes");
    const std::int64_t blocks = NumberOf(amount, "blocks");
    if (bytes != 0 || blocks != 0) window[key] = {bytes, blocks};
  }

  Json Findings(const Json& findings) {
    Json result = Json::array();
    for (const Json& finding : findings) result.push_back(FindingNumbers(finding));
    return result;
  }

  Json FreeErrors(const Json& errors) {
    Json result = Json::array();
    for (const Json& error : errors) {
      result.push_back({{"text", TextOf(error, "text")},
                        {"freed_at", FindingNumbers(MemberOf(error, "freed_at"))},
                        {"made_at", FindingNumbers(MemberOf(error, "made_at"))}});
    }
    return result;
  }

  int Text(const Json& finding, const char* key) { return tables_.String(TextOf(finding, key)); }

  // `user_frame` is told as one more than its index, and 0 if there is none; of the
  // ends of stacks the usual one, `outermost`, is told as 0.
  Json FindingNumbers(const Json& finding) {
    WantSource(finding);
    const int stack = tables_.Stack(MemberOf(finding, "stack"));
    const bool is_complete = TextOf(finding, "stack_end") == "outermost";
    const Json& series = MemberOf(finding, "series");
    return WithoutTrailingZeros({
        NumberOf(finding, "bytes"),
        NumberOf(finding, "blocks"),
        Text(finding, "kind"),
        Text(finding, "disposition"),
        Text(finding, "reach"),
        stack,
        NumberOf(finding, "user_frame", -1) + 1,
        tables_.Pattern(finding, stack),
        Text(finding, "framework_rule"),
        Text(finding, "holder"),
        Text(finding, "explanation"),
        Text(finding, "component"),
        Text(finding, "allowance"),
        Text(finding, "thread"),
        is_complete ? 0 : Text(finding, "stack_end"),
        series.is_array() ? series : Json(0),
        Text(finding, "baseline"),
    });
  }

  void WantSource(const Json& finding) {
    const Json& stack = MemberOf(finding, "stack");
    const std::int64_t user_frame = NumberOf(finding, "user_frame", -1);
    if (!stack.is_array() || user_frame < 0) return;
    if (static_cast<std::size_t>(user_frame) >= stack.size()) return;
    const Json& frame = stack[static_cast<std::size_t>(user_frame)];
    sources_.Want(TextOf(frame, "file"), SmallNumberOf(frame, "line"), rank_);
  }

  std::ostream& out_;
  ReadSource read_source_;
  bool is_baseline_ = true;              // what is written now
  bool has_runs_ = false;                // in the array that is open
  SourceRank rank_ = SourceRank::kThen;  // of the window at hand
  PageTables tables_;
  SourceExcerpts sources_;
};

}  // namespace

ReportWriter NewHtmlWriter(std::ostream& out, ReadSource read_source) {
  const auto writer = std::make_shared<HtmlWriter>(out, std::move(read_source));
  return {.add_baseline = [writer](const Json& run) { writer->AddBaseline(run); },
          .add = [writer](const RunReport& run) { writer->Add(*run.json()); },
          .finish = [writer] { writer->Finish(); }};
}

}  // namespace leakgate
