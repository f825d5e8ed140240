// Reads what a budget file permits beyond its limits: overrides and allowances.
#pragma once

#include <vector>

#include "runner/budget/budget_file.h"
#include "runner/budget/json_fields.h"

namespace leakgate {

// Lists; they may be empty.
[[nodiscard]] Expected<std::vector<Override>> ReadOverrides(const LocatedValue& value,
                                                            const JsonPlace& place);
[[nodiscard]] Expected<std::vector<Allowance>> ReadAllowances(const LocatedValue& value,
                                                              const JsonPlace& place);

}  // namespace leakgate
