// The HTML report: one file that a browser opens from disk, without a network.
//
// The page (html_page.h) with the report in it as JSON. The JSON is not the JSON report: 50,000
// findings share strings, frames and stacks (page_tables.h), and `report-ui/src/model.ts` reads it.
//
//   { "baseline": [...],                                      what KeepComparedParts keeps
//     "runs": [{ "report": {...}, "windows": [...] }, ...],   as they come
//     "history": { "file": ..., "moments": [[commit, time, tests, over budget, bytes, blocks]] },
//     "strings": ..., "frames": ..., "stacks": ..., "sources": ... }
//
// A window has the keys of a run report's (fields.h) and few more (page_fields.h), without what is
// 0 or empty; an amount is [bytes, blocks], and words and paths are indices of strings. A finding
// is a row: its values without keys, in an order that page_fields.h tells. What a window fails for
// is in its "causes", which are rows, too. The page adds up by number, and guesses nothing
// (runner/report/causes.h).
#pragma once

#include <optional>

#include "runner/report/formats/source_excerpts.h"
#include "runner/report/report_format.h"

namespace leakgate {

// Makes the writer of the page. It is pure, but for what `read_source` does; if that is empty, no
// source lines are shown.
[[nodiscard]] ReportWriter NewHtmlWriter(std::ostream& out, ReadSource read_source,
                                         std::optional<EarlierResults> history = std::nullopt);

// Keeps of a run of the baseline what a page compares with: the binary, and the verdict and the
// amounts of each window. Without stacks it takes a small part of the memory.
[[nodiscard]] RunResult KeepComparedParts(const RunResult& run);

}  // namespace leakgate
