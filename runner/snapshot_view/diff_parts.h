// The sites of a comparison as they are shown. Internal to this folder. Pure.
#pragma once

#include <algorithm>
#include <vector>

#include "runner/snapshot_view/site_changes.h"

namespace leakgate {

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
