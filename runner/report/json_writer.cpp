#include "runner/report/json_writer.h"

#include <memory>
#include <optional>

namespace leakgate {
namespace {

using Json = nlohmann::ordered_json;

std::string Text(const Json& json) {
  return json.dump(1, ' ', false, Json::error_handler_t::replace);
}

class JsonWriter {
 public:
  explicit JsonWriter(std::ostream& out) : out_(out) {}

  void Add(const Json& run) {
    if (runs_++ == 0) {
      only_ = run;
      return;
    }
    if (only_) Append(*std::exchange(only_, std::nullopt));
    Append(run);
  }

  void Finish() {
    if (only_) {
      out_ << Text(*only_) << '\n';
    } else {
      out_ << (is_open_ ? "\n" : kBegin) << "]}\n";
    }
  }

 private:
  static constexpr const char* kBegin = "{\"schema\": \"leakgate-merged-1\", \"runs\": [\n";

  void Append(const Json& run) {
    out_ << (is_open_ ? ",\n" : kBegin) << Text(run);
    is_open_ = true;
  }

  std::ostream& out_;
  int runs_ = 0;
  std::optional<Json> only_;  // until a second one tells that there are several
  bool is_open_ = false;
};

}  // namespace

ReportWriter NewJsonWriter(std::ostream& out) {
  const auto writer = std::make_shared<JsonWriter>(out);
  return {.add = [writer](const Json& run) { writer->Add(run); },
          .finish = [writer] { writer->Finish(); }};
}

}  // namespace leakgate
