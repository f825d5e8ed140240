// The columns that each line of a snapshot's tables and of its call tree begins with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "runner/snapshot_view/snapshot_view.h"

namespace leakgate {

// How wide they are.
constexpr std::size_t kAmountColumns = 2 + 10 + 1 + 14 + 1 + 6 + 1 + 10;

[[nodiscard]] std::string AmountHeading();
// `total`: the bytes that are all of it.
[[nodiscard]] std::string AmountColumns(Amount amount, std::int64_t total);

}  // namespace leakgate
