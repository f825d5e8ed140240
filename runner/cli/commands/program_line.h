// A program that stands behind the two dashes: one to run, or one that is only asked for its
// tests.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "runner/base/expected.h"
#include "runner/budget/budget_set.h"
#include "runner/cli/app/option_list.h"
#include "runner/run/run_session.h"

namespace leakgate {

// Has `request` run `program`. `usage`: of the command, for the usage error where there is no
// program.
[[nodiscard]] Expected<void> SetProgram(const ProgramLine& program, std::string_view usage,
                                        RunRequest& request);

struct ListedProgram {
  std::filesystem::path path;
  std::vector<TestId> tests;
};

// Asks the program for its tests. REQUIRES: `line` is not empty. Error: there is no such
// program, or it lists no tests.
[[nodiscard]] Expected<ListedProgram> ListProgram(const ProgramLine& line);

}  // namespace leakgate
