// The words that the JSON report uses for leakgate's enumerations. They are
// part of the format: docs/leakgate-report-2.schema.json lists the same ones.
// A value that no enumerator has reads as the most cautious word.
#pragma once

#include "runner/attribution/finding.h"
#include "runner/budget/verdict.h"
#include "runner/report/run_result.h"
#include "runner/snapshot/region_words.h"

namespace leakgate {

[[nodiscard]] const char* Word(Verdict verdict);  // of a window
[[nodiscard]] const char* Word(Disposition disposition);
[[nodiscard]] const char* Word(Reach reach);
[[nodiscard]] const char* Word(BaselineState state);  // "known", "new"; REQUIRES: a baseline
[[nodiscard]] const char* Word(TestStatus status);    // "passed", ...; REQUIRES: not kNone
[[nodiscard]] const char* Word(GateMode mode);
[[nodiscard]] const char* RunWord(Verdict verdict);  // of the run: "pass", "failed", ...

}  // namespace leakgate
