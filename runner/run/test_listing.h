// Lists the tests of a GoogleTest binary before they run, with their source files, by which budget
// files are chosen.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runner/budget/budget_set.h"
#include "runner/judge/judge_surroundings.h"

namespace leakgate {

// Runs `program` with `arguments` and --gtest_list_tests, untraced and silent. Returns the tests
// that are neither filtered out nor disabled; none if the program does not list them within a
// minute. Their files are absolute if debug information has them so.
[[nodiscard]] TestSources ListTests(const std::filesystem::path& program,
                                    const std::vector<std::string>& arguments);

// Reads the tests from GoogleTest's JSON; returns none if `json` is something else.
[[nodiscard]] TestSources ParseTestList(const std::string& json);

}  // namespace leakgate
