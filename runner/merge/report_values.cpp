#include "runner/merge/report_values.h"

namespace leakgate {

using Json = nlohmann::ordered_json;

const Json& ElementsOf(const Json& json, const char* key) {
  static const Json kNone = Json::array();
  const Json& value = MemberOf(json, key);
  return value.is_array() ? value : kNone;
}

std::vector<Frame> StackOf(const Json& finding) {
  std::vector<Frame> stack;
  for (const Json& value : ElementsOf(finding, "stack")) {
    Frame& frame = stack.emplace_back();
    frame.function = TextOf(value, "function");
    frame.file = TextOf(value, "file");
    frame.module = TextOf(value, "module");
  }
  return stack;
}

}  // namespace leakgate
