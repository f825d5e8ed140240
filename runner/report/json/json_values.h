// Reads the parts of a run from JSON values, by the table of keys in fields.h.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runner/result/run_result.h"

namespace leakgate {

// Both return "what is wrong; what to do", or an empty text. After a problem, the value is
// incomplete.
[[nodiscard]] std::string ReadWindow(const nlohmann::ordered_json& json, WindowResult& window);
[[nodiscard]] std::string ReadFieldOfRun(const nlohmann::ordered_json& json, std::string_view key,
                                         RunResult& run);

// Tells whether a run has a member of that name, besides its schema and its windows.
[[nodiscard]] bool IsFieldOfRun(std::string_view key);

// Returns a member that each run must have and that is not among `keys`.
[[nodiscard]] std::optional<std::string> MissingFieldOfRun(const std::vector<std::string>& keys);

}  // namespace leakgate
