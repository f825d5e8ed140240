// The HTML report: one file that a browser opens from disk, without a network.
//
// A page that is made once (html_template.h) with the report in it as JSON. The JSON
// is not the JSON report: 50,000 findings share strings, frames and stacks
// (page_tables.h), and `report-ui/src/model.ts` reads it.
//
//   { "baseline": [...],                                      what ComparedRun keeps
//     "runs": [{ "report": {...}, "windows": [...] }, ...],   as they come
//     "strings": ..., "frames": ..., "stacks": ..., "patterns": ..., "sources": ... }
//
// A window has the keys of a run report's, without amounts that are 0; an amount is
// [bytes, blocks], and words and paths are indices of strings. A finding is an array
// (PageWindow::Numbers in html_writer.cpp).
#pragma once

#include "runner/report/formats/source_excerpts.h"
#include "runner/report/report_writer.h"

namespace leakgate {

// Pure, but for what `read_source` does; if that is empty, no source lines are shown.
[[nodiscard]] ReportWriter NewHtmlWriter(std::ostream& out, ReadSource read_source);

// What of a run of the baseline a page compares with: who ran, and of each window its verdict
// and its amounts. Without stacks it takes a small part of the memory.
[[nodiscard]] RunResult ComparedRun(RunResult run);

}  // namespace leakgate
