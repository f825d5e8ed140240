// The page of a snapshot: one file that a browser opens from disk (report/formats/html_page.h).
//
//   { "snapshot": { facts of leakgate-snapshot-view-1, "lines": [[key, text]], "filter": "...",
//                   "shown": [bytes, blocks] },
//     "sites": { "count": 17, "rows": [[name, place, bytes, blocks, first test, last test,
//                                       is the user's], ...] },
//     "live": { "stacks": 40, "left_out": [0, bytes, blocks],
//               "rows": [[node, call site, end, site's row counted from 1, bytes, blocks], ...] },
//     "tables": [{ "by": "thread", "title": "Threads", "groups": 3, "rest": [bytes, blocks],
//                  "rows": [[name, place, bytes, blocks], ...] }, ...],
//     "sizes": [[from, to, bytes, blocks], ...],
//     "mapped": { "count": 2, "rows": [[name, place, bytes, mappings, reserved bytes,
//                                       node, call site, end], ...] },
//     "freed": the same of freed blocks, or null if stacks of free were not taken,
//     "strings": ..., "frames": ..., "stacks": ..., "sources": ...,    (page_tables.h)
//     "problems": [[module, why it has no symbols], ...] }
//
// Names, places and tests are indices of strings. `report-ui/src/snapshot_model.ts` reads it.
#pragma once

#include <ostream>

#include "runner/report/report_format.h"
#include "runner/snapshot/view/page_stacks.h"
#include "runner/snapshot/view/snapshot_view.h"

namespace leakgate {

// REQUIRES: `view` has been read. Without `read_source` no source lines are quoted.
void WriteSnapshotPage(SnapshotView& view, std::ostream& out, const ReadSource& read_source,
                       const PageLimits& limits = {});

}  // namespace leakgate
