// Values of a run report that was read. Lenient: what is not as it should be is as
// if it were not there.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runner/symbols/frame.h"

namespace leakgate {

[[nodiscard]] std::string TextOf(const nlohmann::json& json, const char* key);     // or ""
[[nodiscard]] std::int64_t NumberOf(const nlohmann::json& json, const char* key);  // or 0
[[nodiscard]] const nlohmann::json& MemberOf(const nlohmann::json& json,
                                             const char* key);  // or null
[[nodiscard]] const nlohmann::json& ElementsOf(const nlohmann::json& json,
                                               const char* key);  // or []

// The frames of a finding, as far as they name functions.
[[nodiscard]] std::vector<Frame> StackOf(const nlohmann::json& finding);

}  // namespace leakgate
