// The words that the JSON report uses for leakgate's enumerations. They are part of the
// format: docs/leakgate-report-2.schema.json lists the same ones.
#pragma once

#include <optional>
#include <string_view>

#include "common/allocation_kind.h"
#include "common/drop_reason.h"
#include "common/region_layout.h"
#include "common/unwind_end.h"
#include "runner/attribution/finding.h"
#include "runner/budget/verdict.h"
#include "runner/report/run_result.h"

namespace leakgate {

// "malloc", "depth_limit", "map_full", "suite", "over_budget", ... A value that no enumerator
// has, which only damaged memory has, reads as the most cautious word.
[[nodiscard]] const char* Word(AllocationKind kind);
[[nodiscard]] const char* Word(UnwindEnd end);
[[nodiscard]] const char* Word(DropReason reason);
[[nodiscard]] const char* Word(BoundarySource source);
[[nodiscard]] const char* Word(WindowKind kind);
[[nodiscard]] const char* Word(Verdict verdict);  // of a window
[[nodiscard]] const char* Word(Disposition disposition);
[[nodiscard]] const char* Word(Reach reach);
[[nodiscard]] const char* Word(BaselineState state);  // REQUIRES: there is a baseline
[[nodiscard]] const char* Word(TestStatus status);    // REQUIRES: not kNone
[[nodiscard]] const char* Word(GateMode mode);
[[nodiscard]] const char* RunWord(Verdict verdict);  // of a run: "pass", "failed", ...

// The enumerator that a word stands for; nothing if the format has no such word.
template <typename Enum>
[[nodiscard]] std::optional<Enum> FromWord(std::string_view word);
[[nodiscard]] std::optional<Verdict> FromRunWord(std::string_view word);

}  // namespace leakgate
