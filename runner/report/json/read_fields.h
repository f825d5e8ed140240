// Reads JSON values into the parts of a run, key by key of the table in fields.h. What is
// wrong with a value is told in one line, and the rest of it is left as it was.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runner/result/run_result.h"

namespace leakgate {

// All return what is wrong, "what is wrong; what to do", or nothing.
[[nodiscard]] std::string ReadWindow(const nlohmann::ordered_json& json, WindowResult& window);
[[nodiscard]] std::string ReadFieldOfRun(const nlohmann::ordered_json& json, std::string_view key,
                                         RunResult& run);

// Whether a run has a member of that name, besides its schema and its windows.
[[nodiscard]] bool IsFieldOfRun(std::string_view key);

// One that each run must have, and that is not among `keys`.
[[nodiscard]] std::optional<std::string> MissingFieldOfRun(const std::vector<std::string>& keys);

}  // namespace leakgate
