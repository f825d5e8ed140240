#include "runner/report/json_writer.h"

#include <memory>
#include <utility>

namespace leakgate {
namespace {

using Json = nlohmann::ordered_json;

std::string Text(const Json& json) {
  return json.dump(1, ' ', false, Json::error_handler_t::replace);
}

constexpr std::string_view kBegin = "{\"schema\": \"leakgate-merged-1\", \"runs\": [\n";
constexpr std::string_view kBetween = ",\n";
constexpr std::string_view kEnd = "]}\n";

class JsonWriter {
 public:
  explicit JsonWriter(std::ostream& out) : out_(out) {}

  void Add(const RunReport& run) {
    if (runs_++ == 0) {
      only_ = run.json();
      return;
    }
    if (only_) Append(*std::exchange(only_, nullptr));
    Append(*run.json());
  }

  void Finish() {
    if (only_) {
      out_ << Text(*only_) << '\n';
    } else {
      out_ << (is_open_ ? "\n" : kBegin) << kEnd;
    }
  }

 private:
  void Append(const Json& run) {
    out_ << (is_open_ ? kBetween : kBegin) << Text(run);
    is_open_ = true;
  }

  std::ostream& out_;
  int runs_ = 0;
  std::shared_ptr<const Json> only_;  // until a second one tells that there are several
  bool is_open_ = false;
};

}  // namespace

JsonTextWriter::JsonTextWriter(std::ostream& out, std::size_t runs)
    : out_(out), is_merged_(runs != 1) {
  if (is_merged_) out_ << kBegin;
}

void JsonTextWriter::BeginRun() {
  if (!is_first_) out_ << kBetween;
  is_first_ = false;
}

void JsonTextWriter::Write(std::string_view piece) {
  out_.write(piece.data(), static_cast<std::streamsize>(piece.size()));
}

void JsonTextWriter::Finish() {
  if (!is_first_) out_ << '\n';
  if (is_merged_) out_ << kEnd;
}

ReportWriter NewJsonWriter(std::ostream& out) {
  const auto writer = std::make_shared<JsonWriter>(out);
  return {.add_baseline = {},
          .add = [writer](const RunReport& run) { writer->Add(run); },
          .finish = [writer] { writer->Finish(); }};
}

}  // namespace leakgate
