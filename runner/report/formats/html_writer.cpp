#include "runner/report/formats/html_writer.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runner/report/causes.h"
#include "runner/report/formats/html_page.h"
#include "runner/report/formats/page_object.h"
#include "runner/report/formats/page_tables.h"
#include "runner/report/json/json_text.h"

namespace leakgate {
namespace {

using Json = nlohmann::ordered_json;

// Numbers causes in the order in which they are met: the page counts by number what the runner has
// found out.
class CauseNumbers {
 public:
  std::vector<PageCause> Of(const WindowResult& window, const LosingSites& sites,
                            const std::string& binary) {
    std::vector<PageCause> causes;
    for (WindowCause& cause : CausesOf(window, sites)) {
      const std::string key = cause.has_site ? cause.key : cause.key + '\n' + binary;
      const std::size_t number = numbers_.try_emplace(key, numbers_.size()).first->second;
      causes.push_back({number, std::move(cause)});
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
    text_ += std::exchange(has_runs_, true) ? ",\n" : "";
    text_ += "{\"report\":{\"binary\":";
    AppendJsonString(run.binary, text_);
    text_ += '}';
    const RunResult compared = KeepComparedParts(run);
    WriteWindows(compared);
  }

  void Add(const RunResult& run) {
    EndBaseline();
    text_ += std::exchange(has_runs_, true) ? ",\n" : "";
    text_ += "{\"report\":";
    AppendRunWithoutWindows(run, text_);
    WriteWindows(run);
  }

  void Finish() {
    EndBaseline();
    out_ << ']';
    tables_.WriteMembers(out_);
    WritePageMember(out_, "sources", sources_.Read(read_source_));
    if (history_) WritePageMember(out_, "history", ToJson(*history_));
    out_ << '}' << HtmlTemplateHalves().second;
  }

 private:
  void EndBaseline() {
    if (!std::exchange(is_baseline_, false)) return;
    out_ << "],\n\"runs\":[\n";
    has_runs_ = false;
  }

  // Windows are written one at a time, so that a run is not held twice.
  void WriteWindows(const RunResult& run) {
    text_ += ",\n\"windows\":[";
    bool is_first = true;
    const LosingSites sites = is_baseline_ ? LosingSites({}) : LosingSites(run.windows);
    for (const WindowResult& window : run.windows) {
      text_ += std::exchange(is_first, false) ? "\n" : ",\n";
      AppendWindow(window, sites, run);
      WriteText();
    }
    text_ += "]}";
    WriteText();
  }
  void AppendWindow(const WindowResult& window, const LosingSites& sites, const RunResult& run) {
    PageWindow page{window, run.begin};
    if (!is_baseline_ && window.verdict == Verdict::kOverBudget) {
      page.causes = causes_.Of(window, sites, run.binary);
    }
    const PageContext context{tables_, sources_, window};
    PageObject fields(context, text_);
    VisitFields(fields, page);
    fields.End();
  }
  void WriteText() {
    out_ << EscapedForScript(text_);
    text_.clear();
  }
  std::ostream& out_;
  ReadSource read_source_;
  std::optional<EarlierResults> history_;
  bool is_baseline_ = true;  // what is written now
  bool has_runs_ = false;    // in the array that is open
  std::string text_;         // what is not written yet
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

RunResult KeepComparedParts(const RunResult& run) {
  RunResult kept;
  kept.binary = run.binary;
  kept.windows.reserve(run.windows.size());
  for (const WindowResult& window : run.windows) {
    WindowResult& compared = kept.windows.emplace_back();
    compared.kind = window.kind;
    compared.name = window.name;
    compared.iteration = window.iteration;
    compared.verdict = window.verdict;
    compared.budget = window.budget;
    compared.outstanding = window.outstanding;
    compared.lost = window.lost;
    compared.retained = window.retained;
    compared.allowed = window.allowed;
    compared.known = window.known;
    compared.framework = window.framework;
    compared.growth = window.growth;
    compared.allocated = window.allocated;
  }
  return kept;
}

}  // namespace leakgate
