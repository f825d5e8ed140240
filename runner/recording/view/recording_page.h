// The page of a recording: one file that a browser opens from disk (report/formats/html_page.h). It
// can show any interval that is chosen on it, without the recording:
//
//   { "recording": { facts of leakgate-recording-view-1, "name", "shown": which blocks are counted,
//                    "options": ["--filter", "net::*", ...] that choose the same,
//                    "lost_since_ns": when events are missing first, or null,
//                    "is_incomplete": events are missing, and nobody knows when,
//                    "is_cut_off": those of the end are missing },
//     "borders": [ns, ...],      of the bins of time: where each begins, and the last one's end
//     "peaks": [[bytes, blocks, ns, test], ...],    the most that was live in each bin
//     "lives": "...",            what became of the blocks, by bins and stacks (page_lives.h)
//     "curve": { "step_ns": 1000, "points": [most bytes, least bytes, ...] },
//     "tests": { "count": 2, "rows": [[name, begin ns, end ns], ...] },
//     "marks": { "count": 2, "rows": [[name, ns], ...] },
//     "sites": { "count": 17, "rows": [[name, place, is the user's], ...] },
//     "live": { "stacks": 40, "left_out": 0,
//               "rows": [[node, call site, end, site's row counted from 1], ...] },
//     "strings": ..., "frames": ..., "stacks": ..., "sources": ...,    (page_tables.h)
//     "problems": [[module, why it has no symbols], ...] }
//
// Stacks are numbered by the rows of "live". A row whose node is -1 stands for stacks that are left
// out: row 0 for those of sites that are not listed, other rows for those of one site. They count
// in the site's sums, and are in no tree. Names, places and tests are indices of strings.
// `report-ui/src/recording_model.ts` reads it.
#pragma once

#include <cstddef>
#include <ostream>

#include "runner/base/expected.h"
#include "runner/recording/view/lives_over_time.h"
#include "runner/recording/view/recording_view.h"
#include "runner/report/report_format.h"
#include "runner/snapshot/view/page_stacks.h"

namespace leakgate {

struct RecordingPageLimits {
  PageLimits stacks{.stacks = 12'000, .nodes = 40'000, .table_bytes = 3'000'000};
  LivesOptions lives{};                 // only its limits are used
  std::size_t lives_bytes = 8'000'000;  // of which base64 makes a third more
  std::size_t names_bytes = 2'000'000;  // of tests and marks
};

// Reads the recording once more. REQUIRES: `view` has been read, and no lifetimes are chosen.
// Without `read_source` no source lines are quoted.
[[nodiscard]] Expected<void> WriteRecordingPage(RecordingView& view, std::ostream& out,
                                                const ReadSource& read_source,
                                                const RecordingPageLimits& limits = {});

}  // namespace leakgate
