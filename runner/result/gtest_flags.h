// GoogleTest's flags and variables: what a program's arguments and environment tell of the tests
// that it runs, and how a program is asked by them. GoogleTest takes a flag's default from the
// variable of its name: GTEST_FILTER for --gtest_filter. All but RunsAllTests is pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runner/result/run_result.h"

namespace leakgate {

inline constexpr std::string_view kListTestsFlag = "--gtest_list_tests";
inline constexpr std::string_view kOutputFlag = "--gtest_output=";
// GoogleTest starts the test binary with it for a death test, which is the test's own.
inline constexpr std::string_view kDeathTestFlag = "--gtest_internal_run_death_test=";
inline constexpr const char* kShardIndexVariable = "GTEST_SHARD_INDEX";

// Returns whether neither `arguments` nor this process's environment select tests. If they do, an
// allowance that is unused here may be used by other tests.
[[nodiscard]] bool RunsAllTests(const std::vector<std::string>& arguments);

// Returns those of `arguments` that choose tests. The jobs of one set of shards may differ in
// others, such as the files that they write.
[[nodiscard]] std::vector<std::string> SelectionIn(const std::vector<std::string>& arguments);

// Returns what chooses the tests, as it was given: "--gtest_filter=A.*" or "GTEST_FILTER=A.*"; an
// empty text if nothing does.
[[nodiscard]] std::string FilterGiven(const std::vector<std::string>& arguments,
                                      const std::vector<std::string>& environment);

// Returns which shard of the tests a process runs, by GoogleTest's own variables, which Bazel sets
// as well. Returns nullopt if they are not set, or if GoogleTest would refuse them and end the
// program.
[[nodiscard]] std::optional<Shard> ShardOf(const std::vector<std::string>& environment);

// Returns whether a test binary runs as the child process of a death test.
[[nodiscard]] bool IsDeathTest(const std::vector<std::string>& arguments);

// Returns whether a test binary lists its tests instead of running them, and whether it is asked
// for that or for its help.
[[nodiscard]] bool ListsTests(const std::vector<std::string>& arguments);
[[nodiscard]] bool AsksForNoTest(const std::vector<std::string>& arguments);

// Returns whether tests may run several times. A file of flags may ask for that, too.
[[nodiscard]] bool MayRepeatTests(const std::vector<std::string>& arguments,
                                  const std::vector<std::string>& environment);

// Returns whether GoogleTest's only stream of results is sent somewhere.
[[nodiscard]] bool SendsStream(const std::vector<std::string>& arguments,
                               const std::vector<std::string>& environment);

// Returns where results are written, as "xml:FILE"; nullopt if nothing says so. Bazel has a
// variable of its own.
[[nodiscard]] std::optional<std::string> OutputOf(const std::vector<std::string>& arguments,
                                                  const std::vector<std::string>& environment);

// Returns `environment` without what GoogleTest and test runners pass by environment.
[[nodiscard]] std::vector<std::string> WithoutTestVariables(std::vector<std::string> environment);

// Returns `arguments` without those that choose, repeat, order or report tests.
[[nodiscard]] std::vector<std::string> WithoutTestSelection(std::vector<std::string> arguments);

// Returns the value of GoogleTest's flag "filter" that chooses these tests. In it, ':' and '-'
// stand between patterns, but a name may have them as well, as names of types do: there, '?' stands
// for any character. So another test may be chosen, too.
[[nodiscard]] std::string FilterFor(const std::vector<std::string>& tests);

// Returns the variables by which a program runs these tests so often. Variables, because the
// program may not accept further arguments.
[[nodiscard]] std::vector<std::string> VariablesToRun(const std::vector<std::string>& tests,
                                                      int repetitions);

}  // namespace leakgate
