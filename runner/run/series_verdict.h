// What a series of repetitions makes of a finding. Pure.
#pragma once

#include <string>

#include "runner/judge/repetition_series.h"
#include "runner/result/finding.h"

namespace leakgate {

// Decides the finding's disposition from its series. REQUIRES: `length` is kShort or kFinal.
void ApplySeries(const JudgedSeries& judged, SeriesLength length, Finding& finding);

// Returns what becomes of what has such a series. One-time initialisation is only what is there
// from the first repetition on.
[[nodiscard]] Disposition DispositionOf(const JudgedSeries& judged);

// Returns what there is more in the end, such as "63 blocks, 6.2 KiB".
[[nodiscard]] std::string GrownText(const RepetitionSeries& series, AllocationKind kind);

}  // namespace leakgate
