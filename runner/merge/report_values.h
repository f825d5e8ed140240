// Values of a run report that was read, besides those of json_access.h. Lenient: what
// is not as it should be is as if it were not there.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "runner/report/json_access.h"
#include "runner/symbols/frame.h"

namespace leakgate {

[[nodiscard]] const nlohmann::ordered_json& ElementsOf(const nlohmann::ordered_json& json,
                                                       const char* key);  // or []

// The frames of a finding, as far as they name functions.
[[nodiscard]] std::vector<Frame> StackOf(const nlohmann::ordered_json& finding);

}  // namespace leakgate
