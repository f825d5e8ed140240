#include <memory>
#include <sstream>

#include "runner/report/json/json_report.h"
#include "runner/report/json/json_values.h"

namespace leakgate {
namespace {

using Json = nlohmann::ordered_json;

std::string TextOf(const Json& json) {
  return json.dump(1, ' ', false, Json::error_handler_t::replace);
}

// Returns the text of a window, two levels deep. It is written on its own, so that a run is never
// in memory twice. No string in JSON has a line break, so each one can be indented.
std::string IndentedText(const Json& json) {
  std::string text = TextOf(json);
  std::string indented;
  indented.reserve(text.size() + text.size() / 4);
  for (const char c : text) {
    indented += c;
    if (c == '\n') indented += "  ";
  }
  return indented;
}

Json WindowJson(const WindowResult& window, const RunResult& run) {
  JsonMaker fields;
  VisitFields(fields, window, run.begin);
  return fields.Take();
}

void WriteRun(std::ostream& out, const RunResult& run) {
  constexpr std::string_view kEnd = "\n}";
  std::string head = TextOf(JsonWithoutWindows(run));
  head.resize(head.size() - kEnd.size());
  out << head << ",\n \"windows\": [";
  bool is_first = true;
  for (const WindowResult& window : run.windows) {
    out << (is_first ? "\n  " : ",\n  ") << IndentedText(WindowJson(window, run));
    is_first = false;
  }
  out << (is_first ? "]" : "\n ]") << kEnd;
}

class JsonWriter {
 public:
  JsonWriter(std::ostream& out, std::size_t runs) : out_(out), is_merged_(runs != 1) {
    if (is_merged_) {
      out_ << "{\"schema\": \"" << kMergedSchema << "\", \"runs\": [\n";
    }
  }

  void Add(const RunResult& run) {
    if (!is_first_) out_ << ",\n";
    is_first_ = false;
    WriteRun(out_, run);
  }

  void Finish() {
    if (!is_first_) out_ << '\n';
    if (is_merged_) out_ << "]}\n";
  }

 private:
  std::ostream& out_;
  const bool is_merged_;
  bool is_first_ = true;
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
