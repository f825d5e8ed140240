#include <memory>
#include <sstream>

#include "runner/report/json/json_report.h"
#include "runner/report/json/json_text.h"

namespace leakgate {
namespace {

class JsonWriter {
 public:
  JsonWriter(std::ostream& out, std::size_t runs) : out_(out), is_merged_(runs != 1) {
    if (is_merged_) {
      out_ << "{\"schema\": \"" << kMergedSchema << "\", \"runs\": [\n";
    }
  }

  void Add(const RunResult& run) {
    if (!is_first_) text_ += ",\n";
    is_first_ = false;
    AddHead(run);
    bool has_windows = false;
    for (const WindowResult& window : run.windows) {
      text_ += has_windows ? ",\n  " : "\n  ";
      has_windows = true;
      constexpr std::size_t kDepth = 2;
      JsonText fields(text_, kDepth);
      VisitFields(fields, window, run.begin);
      fields.End();
      if (text_.size() >= kEnoughBytes) WriteText();
    }
    text_ += has_windows ? "\n ]\n}" : "]\n}";
    WriteText();
  }

  void Finish() {
    if (!is_first_) out_ << '\n';
    if (is_merged_) out_ << "]}\n";
  }

 private:
  // So many are written at once: the text of a run is never in memory as a whole.
  static constexpr std::size_t kEnoughBytes = 1 << 18;

  // All of the run up to the first window. The object stays open.
  void AddHead(const RunResult& run) {
    JsonText fields(text_, 0);
    fields.Required("schema", kRunSchema);
    VisitFields(fields, run);
    text_ += ",\n \"windows\": [";
  }

  void WriteText() {
    out_.write(text_.data(), static_cast<std::streamsize>(text_.size()));
    text_.clear();
  }

  std::ostream& out_;
  const bool is_merged_;
  bool is_first_ = true;
  std::string text_;  // what is not written yet
};

}  // namespace

ReportWriter NewJsonWriter(std::ostream& out, std::size_t runs) {
  const auto writer = std::make_shared<JsonWriter>(out, runs);
  return {.add_baseline = {},
          .add = [writer](const RunResult& run) { writer->Add(run); },
          .finish = [writer] { writer->Finish(); }};
}

std::string ToJson(const RunResult& result) {
  std::ostringstream text;
  const ReportWriter writer = NewJsonWriter(text, 1);
  writer.add(result);
  writer.finish();
  return text.str();
}

}  // namespace leakgate
