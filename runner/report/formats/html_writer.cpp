#include "runner/report/formats/html_writer.h"

#include <algorithm>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "runner/report/causes.h"
#include "runner/report/excess.h"
#include "runner/report/finding_text.h"
#include "runner/report/formats/html_page.h"
#include "runner/report/formats/page_tables.h"
#include "runner/report/json/json_values.h"

namespace leakgate {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array kInternedKeys = {"kind",        "test_result", "verdict", "reason",
                                      "source_file", "component",   "owner",   "reach_problem"};

// The members of a baseline's window that a page compares.
constexpr std::array kComparedKeys = {"kind",        "name",   "iteration", "verdict", "component",
                                      "outstanding", "lost",   "retained",  "allowed", "known",
                                      "framework",   "growth", "allocated"};

// The members that a window has only if its times were measured.
constexpr std::array kMeasuredKeys = {"begin_seconds", "end_seconds", "live_bytes"};

bool IsAmong(const auto& keys, std::string_view key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

// Leaves out trailing zeros: the page takes what is missing for 0.
Json WithoutTrailingZeros(Json numbers) {
  while (!numbers.empty() && numbers.back() == 0) numbers.erase(numbers.size() - 1);
  return numbers;
}

// A visitor of a window's fields that makes the JSON of the page. It leaves out amounts that are 0
// and what is empty. An amount becomes [bytes, blocks]; words and paths become indices.
class PageWindow {
 public:
  static constexpr bool kReads = false;

  enum class Keys { kAll, kCompared };

  PageWindow(PageTables& tables, SourceExcerpts& sources, const WindowResult& window, Keys keys)
      : tables_(tables), sources_(sources), window_(window), keys_(keys) {}

  [[nodiscard]] Json Take() { return std::move(json_); }

  template <typename T>
  void Required(const char* key, const T& value) {
    if (IsWanted(key)) Add(key, value);
  }
  template <typename T>
  void WithDefault(const char* key, const T& value) {
    Required(key, value);
  }
  template <typename T>
  void WrittenIf(const char* key, const T& value, bool is_written) {
    if (is_written) Required(key, value);
  }
  template <typename Visit>
  void Group(const char* key, const Visit& visit) {
    if (!IsWanted(key)) return;
    JsonMaker group;
    visit(group);
    json_[key] = group.Take();
  }

 private:
  // Reports of earlier versions have neither times nor live bytes, and a page draws what they have
  // instead. No window that was measured begins and ends at the same moment.
  [[nodiscard]] bool IsWanted(const char* key) const {
    if (window_.begin == window_.end && IsAmong(kMeasuredKeys, key)) return false;
    return keys_ == Keys::kAll || IsAmong(kComparedKeys, key);
  }

  template <typename T>
  void Add(const char* key, const T& value) {
    AddJson(key, JsonMaker::Make(value));
  }
  void Add(const char* key, const Amount& amount) {
    if (amount != Amount{}) json_[key] = {amount.bytes, amount.blocks};
  }
  void Add(const char* key, const std::vector<Finding>& findings) {
    Json numbers = Json::array();
    for (const Finding& finding : findings) numbers.push_back(Numbers(finding));
    AddJson(key, std::move(numbers));
  }
  void Add(const char* key, const std::vector<FreeErrorResult>& errors) {
    Json array = Json::array();
    for (const FreeErrorResult& error : errors) {
      array.push_back({{"text", error.text},
                       {"freed_at", Numbers(error.freed_at)},
                       {"made_at", Numbers(error.made_at)}});
    }
    AddJson(key, std::move(array));
  }
  void Add(const char* key, const std::vector<TopAllocators>& all) {
    Json array = Json::array();
    for (const TopAllocators& top : all) {
      Json sites = Json::array();
      for (const TopAllocator& allocator : top.sites) sites.push_back(Numbers(allocator.site));
      array.push_back({{"quantity", Word(top.quantity)},
                       {"problem", top.problem},
                       {"amount", {top.amount.bytes, top.amount.blocks}},
                       {"framework", {top.framework.bytes, top.framework.blocks}},
                       {"within_limits", top.is_within_limits},
                       {"is_main", IsMainlyByOneSite(top)},
                       {"other_sites", top.other_sites},
                       {"other", {top.other.bytes, top.other.blocks}},
                       {"sites", std::move(sites)}});
    }
    AddJson(key, std::move(array));
  }
  [[nodiscard]] bool IsMainlyByOneSite(const TopAllocators& top) const {
    return std::any_of(window_.violations.begin(), window_.violations.end(), [&](const auto& it) {
      return IsOf(it, top.quantity) && FindMainAllocator(window_, it) != nullptr;
    });
  }
  void AddJson(const char* key, Json&& value) {
    if (value.is_null() || (value.is_array() && value.empty())) return;
    const bool is_interned = value.is_string() && IsAmong(kInternedKeys, key);
    json_[key] =
        is_interned ? Json(tables_.String(value.get_ref<const std::string&>())) : std::move(value);
  }

  // `user_frame` is one more than its index, or 0 if there is none. The usual end of a stack,
  // `outermost`, is 0, and so is a reach that is not known.
  Json Numbers(const Finding& finding) {
    WantSource(finding);
    const int stack = tables_.Stack(finding.stack);
    const auto word = [&](const char* text, bool is_written) {
      return is_written ? tables_.String(text) : 0;
    };
    return WithoutTrailingZeros({
        finding.amount.bytes,
        finding.amount.blocks,
        tables_.String(Word(finding.kind)),
        tables_.String(Word(finding.disposition)),
        word(Word(finding.reach), finding.reach != Reach::kUnknown),
        stack,
        finding.user_frame ? *finding.user_frame + 1 : 0,
        tables_.Pattern(finding, stack),
        tables_.String(finding.framework_rule),
        tables_.String(finding.holder),
        tables_.String(finding.explanation),
        tables_.String(finding.component),
        tables_.String(finding.allowance),
        tables_.String(finding.thread),
        word(Word(finding.stack_end), finding.stack_end != UnwindEnd::kOutermost),
        finding.series.empty() ? Json(0) : Json(finding.series),
        word(Word(finding.baseline), finding.baseline != BaselineState::kNoBaseline),
        GrowsInBytesAlone(finding) ? Json(finding.series_bytes) : Json(0),
        tables_.String(GrowthWords(finding)),
    });
  }

  // Returns "retained, grows by 1 block each time"; an empty text for what does not grow.
  static std::string GrowthWords(const Finding& finding) {
    if (finding.disposition != Disposition::kSteady) return "";
    Finding told;
    told.kind = finding.kind;
    told.reach = finding.reach;
    told.disposition = finding.disposition;
    told.series = finding.series;
    told.series_bytes = finding.series_bytes;
    return FateText(told);
  }

  void WantSource(const Finding& finding) {
    if (!finding.user_frame) return;
    const bool is_quiet =
        window_.verdict == Verdict::kPass || window_.verdict == Verdict::kNotGated;
    const Frame& frame = finding.stack[*finding.user_frame];
    sources_.Want(frame.file, frame.line, is_quiet ? SourceRank::kThen : SourceRank::kFirst);
  }

  PageTables& tables_;
  SourceExcerpts& sources_;
  const WindowResult& window_;
  const Keys keys_;
  Json json_ = Json::object();
};

// Numbers causes in the order in which they are met: the page counts by number what the runner has
// found out.
class CauseNumbers {
 public:
  // Returns [number, findings, mappings, freeing errors, violations] for each cause of `window`.
  Json Of(const WindowResult& window, const std::string& binary) {
    Json causes = Json::array();
    for (const WindowCause& cause : CausesOf(window)) {
      const std::string key = cause.has_site ? cause.key : cause.key + '\n' + binary;
      const std::size_t number = numbers_.try_emplace(key, numbers_.size()).first->second;
      causes.push_back(
          {number, cause.findings, cause.mappings, cause.free_errors, cause.violations});
    }
    return causes;
  }

 private:
  std::unordered_map<std::string, std::size_t> numbers_;
};

Json ToJson(const EarlierResults& earlier) {
  Json moments = Json::array();
  for (const EarlierMoment& moment : earlier.moments) {
    moments.push_back({moment.commit, moment.time, moment.tests, moment.over_budget,
                       moment.outstanding.bytes, moment.outstanding.blocks});
  }
  return {{"file", earlier.file}, {"moments", std::move(moments)}};
}

class HtmlWriter {
 public:
  HtmlWriter(std::ostream& out, ReadSource read_source, std::optional<EarlierResults> history)
      : out_(out), read_source_(std::move(read_source)), history_(std::move(history)) {
    out_ << HtmlTemplateHalves().first << "{\"baseline\":[\n";
  }

  void AddBaseline(const RunResult& run) {
    WriteRun({{"binary", run.binary}}, run, PageWindow::Keys::kCompared);
  }

  void Add(const RunResult& run) {
    EndBaseline();
    WriteRun(JsonWithoutWindows(run), run, PageWindow::Keys::kAll);
  }

  void Finish() {
    EndBaseline();
    out_ << ']';
    const Json tables = tables_.ToJson();
    for (const auto& [name, table] : tables.items()) WriteMember(name, table);
    WriteMember("sources", sources_.Read(read_source_));
    if (history_) WriteMember("history", ToJson(*history_));
    out_ << '}' << HtmlTemplateHalves().second;
  }

 private:
  void EndBaseline() {
    if (!std::exchange(is_baseline_, false)) return;
    out_ << "],\n\"runs\":[\n";
    has_runs_ = false;
  }

  // Windows are written one at a time, so that a run is not held twice.
  void WriteRun(const Json& report, const RunResult& run, PageWindow::Keys keys) {
    if (std::exchange(has_runs_, true)) out_ << ",\n";
    out_ << "{\"report\":" << ScriptJson(report) << ",\n\"windows\":[";
    bool is_first = true;
    for (const WindowResult& window : run.windows) {
      PageWindow fields(tables_, sources_, window, keys);
      VisitFields(fields, window, run.begin);
      Json json = fields.Take();
      if (keys == PageWindow::Keys::kAll && window.verdict == Verdict::kOverBudget) {
        json["causes"] = causes_.Of(window, run.binary);
      }
      out_ << (is_first ? "\n" : ",\n") << ScriptJson(json);
      is_first = false;
    }
    out_ << "]}";
  }
  void WriteMember(const std::string& name, const Json& value) {
    out_ << ",\n\"" << name << "\":" << ScriptJson(value);
  }

  std::ostream& out_;
  ReadSource read_source_;
  std::optional<EarlierResults> history_;
  bool is_baseline_ = true;  // what is written now
  bool has_runs_ = false;    // in the array that is open
  PageTables tables_;
  CauseNumbers causes_;
  SourceExcerpts sources_;
};

}  // namespace

ReportWriter NewHtmlWriter(std::ostream& out, ReadSource read_source,
                           std::optional<EarlierResults> history) {
  const auto writer = std::make_shared<HtmlWriter>(out, std::move(read_source), std::move(history));
  return {.add_baseline = [writer](const RunResult& run) { writer->AddBaseline(run); },
          .add = [writer](const RunResult& run) { writer->Add(run); },
          .finish = [writer] { writer->Finish(); }};
}

RunResult KeepComparedParts(RunResult run) {
  for (WindowResult& window : run.windows) {
    window.findings = window.mappings = {};
    window.free_errors = {};
    window.made_by = {};
    window.measuring_windows = {};
    window.violations = window.known_violations = {};
    window.left_behind = {};
  }
  return run;
}

}  // namespace leakgate
