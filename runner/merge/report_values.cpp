#include "runner/merge/report_values.h"

namespace leakgate {

using Json = nlohmann::json;

const Json& MemberOf(const Json& json, const char* key) {
  static const Json kNone;
  if (!json.is_object()) return kNone;
  const auto found = json.find(key);
  return found == json.end() ? kNone : *found;
}

std::string TextOf(const Json& json, const char* key) {
  const Json& value = MemberOf(json, key);
  return value.is_string() ? value.get<std::string>() : "";
}

std::int64_t NumberOf(const Json& json, const char* key) {
  const Json& value = MemberOf(json, key);
  return value.is_number_integer() ? value.get<std::int64_t>() : 0;
}

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
