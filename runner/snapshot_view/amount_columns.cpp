#include "runner/snapshot_view/amount_columns.h"

#include <fmt/format.h>

#include "runner/snapshot/quantity_text.h"

namespace leakgate {
namespace {

double Share(std::int64_t bytes, std::int64_t total) {
  return total == 0 ? 0 : 100.0 * static_cast<double>(bytes) / static_cast<double>(total);
}

}  // namespace

std::string AmountHeading() {
  return fmt::format("  {:>10} {:>14} {:>6} {:>10}", "SIZE", "BYTES", "%", "BLOCKS");
}

std::string AmountColumns(Amount amount, std::int64_t total) {
  return fmt::format("  {:>10} {:>14} {:>6.1f} {:>10}", FormatBytes(amount.bytes), amount.bytes,
                     Share(amount.bytes, total), amount.blocks);
}

}  // namespace leakgate
