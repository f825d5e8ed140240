// Shows what has changed by call site, between two snapshots or two recordings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runner/region/amount.h"
#include "runner/report/style.h"
#include "runner/snapshot/view/site_sums.h"
#include "runner/snapshot/view/text_table.h"

namespace leakgate {

// The default number of sites in each table.
inline constexpr std::size_t kTopOfSites = 20;

// Returns "+1.0 MiB".
[[nodiscard]] inline std::string SignedBytes(std::int64_t bytes) {
  return (bytes > 0 ? "+" : "") + FormatBytes(bytes);
}

// Makes a table of the first `top` of `sites`, if there are any. `cells` makes the cells of one
// site's sums, and those of the sum of the sites that are left out.
template <typename Sums, typename CellsOf>
std::string SitesText(std::string title, TextTable table,
                      const std::vector<const Site<Sums>*>& sites, std::size_t top,
                      const CellsOf& cells) {
  if (sites.empty()) return "";
  const auto add = [&](TextTable& to, const Site<Sums>* site) {
    to.Add(cells(site->sums), site->name, site->place, site->is_users);
  };
  const auto rest = [&](std::span<const Site<Sums>* const> others) {
    Sums all;
    for (const Site<Sums>* const site : others) all += site->sums;
    return cells(all);
  };
  return table.TextOfFirst(std::move(title), sites, top, add, rest);
}

// Returns the lines after a comparison that say which modules have no symbols.
[[nodiscard]] std::string ProblemsText(const std::vector<std::string>& problems,
                                       const TextStyle& style);

}  // namespace leakgate
