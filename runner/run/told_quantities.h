// What budget files may ask for that not every system tells. A limit on what is never told would
// let everything pass, so it is refused before anything runs.
#pragma once

#include <vector>

#include "runner/base/expected.h"
#include "runner/budget/budget_file.h"
#include "runner/budget/metric.h"
#include "runner/run/run_request.h"

namespace leakgate {

// Returns whether this system tells how much of it a test has left or done.
[[nodiscard]] bool IsTold(Quantity quantity);
// Returns whether children, and who has started a thread, are known on this system.
[[nodiscard]] bool FollowsProcesses();
[[nodiscard]] bool KnowsThreadStarts();

// Fails with the first place that asks for what is not told, on this system or by `engine`.
[[nodiscard]] Expected<void> RefuseUntold(const std::vector<BudgetFile>& files, HeapEngine engine);

}  // namespace leakgate
