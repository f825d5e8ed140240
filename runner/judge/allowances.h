// Decides which blocks an allowance covers. Allowances come from budget files, by call stack,
// or from the program's code.
//
// Of a budget file's, several may match a block. The one that fits its stack closest takes first,
// up to its number, and the next one takes the rest. If a block is left over, the allowances that
// had no room for it cover nothing, and the blocks' explanation says so: which of them would be
// covered, the lost or the retained, would be chance.
#pragma once

#include <cstdint>
#include <functional>

#include "runner/attribution/suppressions.h"
#include "runner/judge/window_evidence.h"

namespace leakgate {

// Returns the budget that the blocks of a stack are charged to.
using BudgetOfStack = std::function<const AppliedBudget&(std::uint32_t stack)>;

// Returns the allowance of the program's code that an id of the region stands for.
using ScopeById = std::function<AllowanceCopy(std::uint32_t id)>;

// Applies the allowances of leakgate::ScopedAllowance.
void AllowByScope(const RegionReader& region, CallSites& sites, WindowEvidence& evidence);

// Applies the allowances of budget files.
void AllowByBudget(const BudgetOfStack& budget_of, CallSites& sites, WindowEvidence& evidence);

// Applies what the program's own __lsan_default_suppressions returns.
void AllowBySuppressions(Suppressions& suppressions, CallSites& sites, WindowEvidence& evidence);

// Applies leakgate::ExpectOutstanding of `window`: it covers all blocks that are not allowed yet,
// if they are no more than it expects.
void AllowExpected(const RegionReader& region, std::uint32_t window, CallSites& sites,
                   WindowEvidence& evidence);

// Lets an allowance that covers a lost block cover what only that block leads to, too, if there is
// room for all of it; else it covers neither. `earlier` are findings of the window that were told
// before. Called once it is known what is lost.
void AllowLedTo(const ScopeById& scope_of, const BudgetOfStack& budget_of,
                const std::vector<Finding>& earlier, CallSites& sites, WindowEvidence& evidence);

// Lets allowances of budget files cover findings that still fail once all has been repeated: what
// has turned out to be built once, say, is in no allowance's way. Returns whether any is covered;
// then the verdict is to be decided again.
[[nodiscard]] bool AllowWhatFails(WindowResult& window);

// Decides the window's verdict; where it would fail, once allowances have been asked for what
// fails.
void DecideByAllowances(WindowResult& window);

}  // namespace leakgate
