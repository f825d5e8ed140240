// Reads what a budget file permits beyond its limits, overrides and allowances, and the members
// that the file itself shares with those.
#pragma once

#include <string_view>
#include <vector>

#include "runner/budget/budget_file.h"
#include "runner/budget/json_fields.h"

namespace leakgate {

inline constexpr std::string_view kOwnerExample = R"("team-net")";
inline constexpr std::string_view kTestsExample = R"("HttpTest.*")";

[[nodiscard]] Expected<FreeBy> ReadFreeBy(const LocatedValue& value, const JsonPlace& place);
[[nodiscard]] Expected<Confirm> ReadConfirm(const LocatedValue& value, const JsonPlace& place);
[[nodiscard]] Expected<ThreadScope> ReadThreadScope(const LocatedValue& value,
                                                    const JsonPlace& place);

// Both lists may be empty.
[[nodiscard]] Expected<std::vector<Override>> ReadOverrides(const LocatedValue& value,
                                                            const JsonPlace& place);
[[nodiscard]] Expected<std::vector<Allowance>> ReadAllowances(const LocatedValue& value,
                                                              const JsonPlace& place);

}  // namespace leakgate
