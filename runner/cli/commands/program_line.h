// The program behind the two dashes, which is run, or only asked for its tests.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "runner/base/expected.h"
#include "runner/budget/budget_set.h"
#include "runner/cli/app/option_list.h"
#include "runner/run/run_session.h"

namespace leakgate {

// Sets the program of `request`. If there is none, the usage error shows the command `usage`.
[[nodiscard]] Expected<void> SetProgram(const ProgramLine& program, std::string_view usage,
                                        RunRequest& request);

struct ListedProgram {
  std::filesystem::path path;
  std::vector<TestId> tests;
};

// Asks the program for its tests. Returns an error if there is no such program, or if it lists no
// tests. REQUIRES: `line` is not empty.
[[nodiscard]] Expected<ListedProgram> ListProgram(const ProgramLine& line);

}  // namespace leakgate
