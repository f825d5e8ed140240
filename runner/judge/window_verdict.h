// The verdict on one window. Stages of judging find facts out, and write them into its result: what
// became of each block, how often a test grew, what is in doubt. None of them sets the verdict:
// DecideVerdict decides it from all facts, whenever a stage has found more. An example of a test
// that leaves nine blocks:
//
//     stage         functions of judge/ and run/          find                     may fail
//   1 counted       GatherEvidence                        9 live at the test's end         9
//   2 framework     CallSites::Of                         1 is GoogleTest's own            8
//   3 allowances    AllowByScope, AllowByBudget, ..       1 is allowed                     7
//   4 look          FindLostBlocks                        7 retained, none lost            7
//   5 replaced      MarkReplaced                          1 replaces an older one          6
//   6 baseline      MarkKnownBlocks                       1 is known                       5
//   7 built once    MarkStatic, MarkKeptByListeners       1 is of a static's initialiser   4
//   8 open          MarkUnconfirmed                       4 may grow: unconfirmed          4
//   9 since then    MarkReleased, ApplyLook, MoveToLost   1 is lost by now: over budget    4
//  10 repetition    ApplyOutcome, ApplySum                1 grows, +1 +1 +1 ..;
//                                                         2 were built once, +0 +0 +0 ..   2
//  11 many tests    MarkSurviving                         3 tests keep 1 of those 2        3
//  12 pause         ApplyPauses                           what grew is freed in time       2
//  13 doubts        ConcludeVerdict                       an event was dropped, so nothing
//                                                         passes; the lost block fails     1
//
// Stage 9 is at the ends of the suite, if the budget says so ("free_by"), of the iteration and of
// the process. With --confirm=inline, stages 10 and 12 come before it.
//
// Where a budget limits `outstanding`, only the limits count. Otherwise the default policy holds:
// lost memory fails; retained memory fails a test once its repetitions have shown that it grows
// each time.
#pragma once

#include <string>

#include "runner/budget/budget_set.h"
#include "runner/result/run_result.h"

namespace leakgate {

// Fills in the amounts that come from findings (outstanding, lost, retained, allowed, framework,
// mapped), the violations, the verdict and its reason, as far as the facts are known. The first of
// these holds:
//   inconclusive   the window was not judged (VerdictDoubts::unjudged)
//   inconclusive   its test or program did not come to its end, and no freeing error is certain
//   over budget    a limit is exceeded, or a block was freed wrongly
//   unconfirmed    the same, but by what the budget lets be freed until later
//   unconfirmed    something that is retained may grow
//   inconclusive   what the process lost could not be told at its end
//   not gated      no limit is set
//   pass
// REQUIRES: the findings' dispositions, and `growth` with the framework's.
void DecideVerdict(WindowResult& window);

// Decides it for good: nothing more will be found out. What would not fail becomes inconclusive if
// a limit depends on whether a block is lost, and that could not be told (reach_problem). So does
// what would pass, if there is a doubt about the whole run: `run_doubt` says which, or is empty.
void ConcludeVerdict(const std::string& run_doubt, WindowResult& window);

// Fills in the same amounts, without a verdict.
void SumFindings(WindowResult& window);

// Returns whether the window exceeds a limit or has freed a block wrongly, whatever may come of it.
[[nodiscard]] bool IsOver(const WindowResult& window);

// Returns whether anything hangs on which blocks are lost.
[[nodiscard]] bool AsksForReach(const AppliedBudget& budget);

// Returns whether no limit of the budget says how much of `kind` may be retained, so that what
// grows with each repetition fails.
[[nodiscard]] bool LeavesGrowthToDefault(const AppliedBudget& budget, AllocationKind kind);
[[nodiscard]] bool LeavesDescriptorsToDefault(const AppliedBudget& budget);

// Lets threads and descriptors pass of which no repetition could show that they grow: they come and
// go at times of their own. Returns whether there were any.
bool PassUntold(WindowResult& window);

// Returns whether only a repetition of the test can tell `finding` from a leak.
[[nodiscard]] bool IsToBeConfirmed(const WindowResult& window, const Finding& finding);
// Returns whether that is so of any of its findings, or of its open descriptors.
[[nodiscard]] bool AwaitsRepetition(const WindowResult& window);

}  // namespace leakgate
