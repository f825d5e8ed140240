// The verdict on one window, from its findings and the budgets that apply. Pure.
//
// Where a budget sets a limit on `outstanding`, that is the whole of it. Where
// none does, the default holds: what is lost fails; what is retained fails a
// test once its repetitions have shown that it grows each time.
#pragma once

#include "runner/report/run_result.h"

namespace leakgate {

// Fills in the amounts that come from findings (outstanding, lost, retained,
// allowed, framework, mapped), the violations, the verdict and its reason.
// REQUIRES: the findings' dispositions, and `growth` with the framework's.
void DecideVerdict(WindowResult& window);

// Amounts as above, without a verdict.
void SumFindings(WindowResult& window);

// The findings that only a repetition of the test can tell from a leak.
[[nodiscard]] bool IsToBeConfirmed(const WindowResult& window, const Finding& finding);

}  // namespace leakgate
