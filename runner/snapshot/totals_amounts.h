// What the region's counters come to, as amounts. They may hold anything: nothing overflows.
#pragma once

#include "common/region_layout.h"
#include "runner/snapshot/amount.h"

namespace leakgate {

[[nodiscard]] inline Amount AmountOf(std::uint64_t bytes, std::uint64_t blocks) {
  return {static_cast<std::int64_t>(bytes), static_cast<std::int64_t>(blocks)};
}

[[nodiscard]] inline Amount AllocatedIn(const Totals& totals) {
  return AmountOf(totals.allocated_bytes, totals.allocated_blocks);
}

[[nodiscard]] inline Amount FreedIn(const Totals& totals) {
  return AmountOf(totals.freed_bytes, totals.freed_blocks);
}

[[nodiscard]] inline Amount LiveIn(const Totals& totals) {
  return AmountOf(totals.allocated_bytes - totals.freed_bytes,
                  totals.allocated_blocks - totals.freed_blocks);
}

}  // namespace leakgate
