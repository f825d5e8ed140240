// Members of JSON that another process has sent: of any type, or not there. Pure.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>

namespace leakgate {

// The member `key` of `body`; `otherwise` where it is none of that type.
template <typename T>
[[nodiscard]] T MemberOr(const nlohmann::json& body, const char* key, T otherwise) {
  if (!body.is_object()) return otherwise;
  const auto member = body.find(key);
  if (member == body.end()) return otherwise;
  if (std::is_integral_v<T> && member->is_number_float()) return otherwise;
  try {
    return member->get<T>();
  } catch (const nlohmann::json::exception&) {
    return otherwise;
  }
}

}  // namespace leakgate
