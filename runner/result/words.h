// The words that the JSON report uses for leakgate's enumerations. They are part of the
// format: docs/leakgate-report-2.schema.json lists the same ones.
#pragma once

#include <optional>
#include <string_view>

#include "runner/region/region_words.h"
#include "runner/result/run_result.h"

namespace leakgate {

// "malloc", "depth_limit", "map_full", "suite", "over_budget", ... A value that no enumerator
// has, which only damaged memory has, reads as the most cautious word.
[[nodiscard]] const char* Word(Verdict verdict);  // of a window
[[nodiscard]] const char* Word(Disposition disposition);
[[nodiscard]] const char* Word(Reach reach);
[[nodiscard]] const char* Word(BaselineState state);  // REQUIRES: there is a baseline
[[nodiscard]] const char* Word(TestStatus status);    // REQUIRES: not kNone
[[nodiscard]] const char* Word(GateMode mode);
[[nodiscard]] const char* RunWord(Verdict verdict);  // of a run: "pass", "failed", ...

// FromWord<Enum>() of runner/region/region_words.h reads the words of these, too.
[[nodiscard]] std::optional<Verdict> FromRunWord(std::string_view word);

}  // namespace leakgate
