// Reading run reports without trust: what is missing, or is of another type than it
// should be, is empty.
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

namespace leakgate {

inline const nlohmann::ordered_json& MemberOf(const nlohmann::ordered_json& object,
                                              const char* key) {
  static const nlohmann::ordered_json kNull;
  if (!object.is_object()) return kNull;
  const auto found = object.find(key);
  return found == object.end() ? kNull : *found;
}

inline const std::string& TextOf(const nlohmann::ordered_json& object, const char* key) {
  static const std::string kEmpty;
  const nlohmann::ordered_json& value = MemberOf(object, key);
  return value.is_string() ? value.get_ref<const std::string&>() : kEmpty;
}

inline std::int64_t NumberOf(const nlohmann::ordered_json& object, const char* key,
                             std::int64_t otherwise = 0) {
  const nlohmann::ordered_json& value = MemberOf(object, key);
  return value.is_number_integer() ? value.get<std::int64_t>() : otherwise;
}

// A line's number, say: what no int can hold is 0.
inline int SmallNumberOf(const nlohmann::ordered_json& object, const char* key) {
  const std::int64_t number = NumberOf(object, key);
  const bool fits = number >= 0 && number <= std::numeric_limits<int>::max();
  return fits ? static_cast<int>(number) : 0;
}

}  // namespace leakgate
