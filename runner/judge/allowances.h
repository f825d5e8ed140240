// Which blocks an allowance covers: one of a budget file, by call stack, or one
// that the program's code gave. What is more than an allowance permits is not
// covered at all, and says so.
#pragma once

#include <cstdint>
#include <functional>

#include "runner/judge/window_evidence.h"

namespace leakgate {

// The budget that a stack's blocks are charged to.
using BudgetOfStack = std::function<const AppliedBudget&(std::uint32_t stack)>;

// By leakgate::ScopedAllowance.
void AllowByScope(const RegionReader& region, CallSites& sites, WindowEvidence& evidence);

// By budget files.
void AllowByBudget(const BudgetOfStack& budget_of, CallSites& sites, WindowEvidence& evidence);

// By leakgate::ExpectOutstanding, in `window`: all that is not allowed yet, if it
// is no more than expected.
void AllowExpected(const RegionReader& region, std::uint32_t window, CallSites& sites,
                   WindowEvidence& evidence);

}  // namespace leakgate
