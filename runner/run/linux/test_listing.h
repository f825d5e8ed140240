// The tests of a GoogleTest binary before they run, with their source files:
// what the choice between budget files goes by.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runner/budget/budget_set.h"
#include "runner/judge/judge_surroundings.h"

namespace leakgate {

// Runs `program` with `arguments` and --gtest_list_tests, untraced and silent.
// The tests that are not filtered out and not disabled, or none if the program
// does not list them within a minute. Their files are absolute where debug
// information tells them so.
[[nodiscard]] TestSources ListTests(const std::filesystem::path& program,
                                    const std::vector<std::string>& arguments);

// From GoogleTest's JSON; empty if it is none.
[[nodiscard]] TestSources ParseTestList(const std::string& json);

}  // namespace leakgate
