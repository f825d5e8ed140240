// What of a baseline's run report a page compares with: who ran, and of each window its
// verdict and its amounts. Without stacks it takes a small part of the memory. Pure.
#pragma once

#include <nlohmann/json.hpp>

namespace leakgate {

// A run report again, with nothing else in it. What is none gives an empty object.
[[nodiscard]] nlohmann::ordered_json ComparedRun(const nlohmann::ordered_json& run);

}  // namespace leakgate
