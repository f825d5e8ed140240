// What has changed between two snapshots, as text and as JSON.
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

// `top`: how many of the sites that have grown, and of those that have shrunk; likewise of
// those that have mapped more or less.
[[nodiscard]] std::string DiffText(const SnapshotDiff& diff, std::optional<std::size_t> top,
                                   const TextStyle& style);
[[nodiscard]] nlohmann::ordered_json DiffJson(const SnapshotDiff& diff,
                                              std::optional<std::size_t> top);

// The rest is for the two above: the sites of a comparison as they are shown. Pure.

using ChangedSites = std::vector<const SiteChange*>;

// The sites in three parts: grown, the greatest first; shrunk, likewise; and those that
// have as much as before, of other blocks.
struct DiffParts {
  ChangedSites grown;
  ChangedSites shrunk;
  ChangedSites replaced;
};

// `sites`: by growth, the greatest first.
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
