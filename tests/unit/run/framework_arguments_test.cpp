#include "runner/run/framework_arguments.h"

#include <gmock/gmock.h>

namespace leakgate {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;

constexpr LinkedFramework kCatch2{TestFramework::kCatch2, true};
constexpr LinkedFramework kDoctest{TestFramework::kDoctest, true};
constexpr LinkedFramework kBoostTest{TestFramework::kBoostTest, true};
constexpr LinkedFramework kGoogleTest{TestFramework::kGoogleTest, true};

TEST(ArgumentsToRepeatTest, LeaveOutReportsOfCatch2) {
  EXPECT_THAT(ArgumentsToRepeat(kCatch2, {"-r", "junit", "--out", "x.xml", "[net]"}),
              ElementsAre("[net]"));
  EXPECT_THAT(ArgumentsToRepeat(kCatch2, {"--out=x.xml", "--reporter=junit::out=y", "a test"}),
              ElementsAre("a test"));
}

TEST(ArgumentsToRepeatTest, LeaveOutReportsOfDoctestAndBoostTest) {
  EXPECT_THAT(ArgumentsToRepeat(kDoctest, {"-o=x.xml", "--dt-out=x.xml", "-tc=a"}),
              ElementsAre("-tc=a"));
  EXPECT_THAT(ArgumentsToRepeat(kBoostTest, {"--log_sink=x", "-e", "y", "-t", "a", "--", "own"}),
              ElementsAre("--", "own"));
}

TEST(ArgumentsToRepeatTest, KeepTheProgramsOwnWhereItHasNoHeader) {
  EXPECT_THAT(ArgumentsToRepeat({TestFramework::kCatch2}, {"-o", "x"}), ElementsAre("-o", "x"));
  EXPECT_THAT(ArgumentsToRepeat(kGoogleTest, {"-o", "x", "--gtest_filter=A.*"}),
              ElementsAre("-o", "x"));
}

TEST(EnvironmentToRepeatTest, NamesTheTestsForAHeader) {
  EXPECT_THAT(EnvironmentToRepeat(kCatch2, {"A=1"}, {"one test", "another"}, 6),
              ElementsAre("A=1", "LEAKGATE_TESTS=one test\nanother", "LEAKGATE_REPEAT=6"));
}

TEST(EnvironmentToRepeatTest, AsksGoogleTestByItsOwnVariables) {
  EXPECT_THAT(EnvironmentToRepeat(kGoogleTest, {}, {"A.B"}, 6),
              ElementsAre("GTEST_FILTER=A.B", "GTEST_REPEAT=6"));
}

TEST(EnvironmentToRepeatTest, LeavesOutWhereBoostTestWrites) {
  EXPECT_THAT(EnvironmentToRepeat(kBoostTest, {"BOOST_TEST_LOG_SINK=/x"}, {"a"}, 6),
              Not(Contains("BOOST_TEST_LOG_SINK=/x")));
}

}  // namespace
}  // namespace leakgate
