// A run report as a history keeps it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "runner/history/history.h"

namespace leakgate {

// `digest`: which run it is. What the report lacks is left empty.
[[nodiscard]] HistoryRun ToHistoryRun(const nlohmann::ordered_json& report,
                                      const std::string& digest);

}  // namespace leakgate
