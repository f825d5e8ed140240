// Reads the limits of a budget file.
#pragma once

#include <string_view>
#include <vector>

#include "runner/budget/budget_file.h"
#include "runner/budget/json_fields.h"

namespace leakgate {

// Reads a number of bytes: a whole number of at least 0, or a string such as "64 KiB".
[[nodiscard]] Expected<Limit> ReadBytes(const LocatedValue& value, const JsonPlace& place);

// Reads a number of blocks: a whole number of at least 0.
[[nodiscard]] Expected<Limit> ReadBlocks(const LocatedValue& value, const JsonPlace& place);

// Reads the "limits" of a budget file.
[[nodiscard]] Expected<ScopedLimits> ReadLimits(const LocatedValue& value, const JsonPlace& place);

// Reads the "limits" of an override. Fails if they limit the program window, which belongs to no
// test.
[[nodiscard]] Expected<ScopedLimits> ReadOverrideLimits(const LocatedValue& value,
                                                        const JsonPlace& place);

// Reads what a budget file permits beyond its limits, overrides and allowances, and the members
// that the file itself shares with those.

inline constexpr std::string_view kOwnerExample = R"("team-net")";
inline constexpr std::string_view kTestsExample = R"("HttpTest.*")";

// Both lists may be empty.
[[nodiscard]] Expected<std::vector<Override>> ReadOverrides(const LocatedValue& value,
                                                            const JsonPlace& place);
[[nodiscard]] Expected<std::vector<Allowance>> ReadAllowances(const LocatedValue& value,
                                                              const JsonPlace& place);

}  // namespace leakgate
