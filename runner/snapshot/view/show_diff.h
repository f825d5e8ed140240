// Shows what has changed between two snapshots, as text and as JSON.
#pragma once

#include <algorithm>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "runner/report/style.h"
#include "runner/snapshot/view/snapshot_diff.h"
#include "runner/snapshot/view/stack_changes.h"

namespace leakgate {

// `top` limits how many sites are shown that have grown, and how many that have shrunk; also of
// mappings.
[[nodiscard]] std::string DiffText(const SnapshotDiff& diff, std::optional<std::size_t> top,
                                   const TextStyle& style);
[[nodiscard]] nlohmann::ordered_json DiffJson(const SnapshotDiff& diff,
                                              std::optional<std::size_t> top);

using ChangedSites = std::vector<const SiteChange*>;

// The sites of a comparison in the order in which both functions show them.
struct DiffParts {
  ChangedSites grown;     // the greatest growth first
  ChangedSites shrunk;    // the greatest loss first
  ChangedSites replaced;  // as much as before, but other blocks
};

// REQUIRES: `sites` are sorted by growth, the greatest first.
[[nodiscard]] inline DiffParts PartsOf(const std::vector<SiteChange>& sites) {
  DiffParts parts;
  for (const SiteChange& site : sites) {
    const Amount growth = site.change.Growth();
    if (growth == Amount{}) {
      parts.replaced.push_back(&site);
    } else if (growth.bytes > 0 || (growth.bytes == 0 && growth.blocks > 0)) {
      parts.grown.push_back(&site);
    } else {
      parts.shrunk.push_back(&site);
    }
  }
  std::reverse(parts.shrunk.begin(), parts.shrunk.end());
  return parts;
}

}  // namespace leakgate
