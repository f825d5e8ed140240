// Reads the numbers of a budget file: sizes and whole numbers.
#pragma once

#include "runner/budget/budget_file.h"
#include "runner/budget/json_fields.h"

namespace leakgate {

// Bytes: a whole number, or a string such as "64 KiB".
[[nodiscard]] Expected<Limit> ReadBytes(const LocatedValue& value, const JsonPlace& place);

// Whole numbers, 0 or more; messages name what is counted.
[[nodiscard]] Expected<Limit> ReadBlocks(const LocatedValue& value, const JsonPlace& place);
[[nodiscard]] Expected<Limit> ReadFileDescriptors(const LocatedValue& value,
                                                  const JsonPlace& place);
[[nodiscard]] Expected<Limit> ReadThreads(const LocatedValue& value, const JsonPlace& place);

// Reads the "limits" of a budget file, and of one of its overrides.

[[nodiscard]] Expected<ScopedLimits> ReadLimits(const LocatedValue& value, const JsonPlace& place);

// The program window belongs to no test, so an override must not limit it.
[[nodiscard]] Expected<ScopedLimits> ReadOverrideLimits(const LocatedValue& value,
                                                        const JsonPlace& place);

}  // namespace leakgate
