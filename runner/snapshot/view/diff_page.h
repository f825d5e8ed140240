// The page of the difference between two snapshots (report/formats/html_page.h).
//
//   { "difference": { from, to: facts of leakgate-snapshot-diff-1 and "lines": [[key, text]],
//                     "same_process", "compared", "seconds_between", "filter", "missing",
//                     "problems", "total": change, "mapped": change },
//     "sites": { "count": 17, "rows": [[name, place, is the user's, change...], ...] },
//     "changes": { "stacks": 40, "left_out": [0, change...],
//                  "rows": [[node, call site, end, site's row counted from 1, change...], ...] },
//     "mapped_sites": as sites, with the stack that changed most: node, call site, end
//     "strings": ..., "frames": ..., "stacks": ..., "sources": ... }   (page_tables.h)
//
// A change is eight numbers: bytes and blocks before, after, appeared, gone; the last two pairs are
// 0 of two processes. Names and places are indices of strings. `report-ui/src/snapshot_model.ts`
// reads it.
#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "runner/report/report_format.h"
#include "runner/snapshot/view/page_stacks.h"
#include "runner/snapshot/view/snapshot_diff.h"

namespace leakgate {

// Makes the page in two steps, since stacks are known only during the comparison.
class DiffPage {
 public:
  explicit DiffPage(const PageLimits& limits = {}) : limits_(limits) {}

  // Adds the stacks: the UseStacks of DiffSnapshots.
  void Take(const SnapshotDiff& diff, const ChangedStacks& stacks);

  // Writes the page. REQUIRES: Take was called with the object that became `diff`.
  void Write(const SnapshotDiff& diff, const std::string& filter, std::ostream& out,
             const ReadSource& read_source) const;

 private:
  const PageLimits limits_;
  std::optional<PageStacks> stacks_;
  std::string members_;  // "sites", "changes" and "mapped_sites", as JSON
};

}  // namespace leakgate
