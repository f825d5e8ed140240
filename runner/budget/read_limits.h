// Reads the "limits" of a budget file, and of one of its overrides.
#pragma once

#include "runner/budget/budget_file.h"
#include "runner/budget/json_fields.h"

namespace leakgate {

[[nodiscard]] Expected<ScopedLimits> ReadLimits(const LocatedValue& value, const JsonPlace& place);

// The program window belongs to no test, so an override must not limit it.
[[nodiscard]] Expected<ScopedLimits> ReadOverrideLimits(const LocatedValue& value,
                                                        const JsonPlace& place);

}  // namespace leakgate
