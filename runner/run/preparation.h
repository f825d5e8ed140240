// What is found out before the program starts: which file it is, how it will
// tell its test boundaries, its tests, and the budgets that cover them.
#pragma once

#include <filesystem>

#include "runner/budget/budget_set.h"
#include "runner/judge/judge_surroundings.h"
#include "runner/process/image_inspection.h"
#include "runner/run/run_request.h"

namespace leakgate {

struct Preparation {
  std::filesystem::path program;
  TestFramework framework = TestFramework::kNone;
  TestSources sources;  // empty unless there are budgets to choose by them
  BudgetSet budgets;
};

// Errors: no such program, no agent, a bad budget file, a stream of GoogleTest
// events that the user has already pointed elsewhere.
[[nodiscard]] Expected<Preparation> Prepare(const RunRequest& request);

// Its parts that `leakgate doctor` asks, too. The agent's library is there.
[[nodiscard]] Expected<void> RequireAgent(const std::filesystem::path& agent);
// Where the listener does not tell the boundaries, GoogleTest's one stream does.
[[nodiscard]] Expected<void> RequireFreeStream(const std::vector<std::string>& arguments,
                                               TestFramework framework);

}  // namespace leakgate
