// How much a run tells at its end: --quiet and --verbose.
#include <gmock/gmock.h>

#include "tests/integration/launch_commands.h"

namespace leakgate::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

CommandResult RunSuite(const std::string& filter, const Command& options) {
  return RunCommand(Gated(Launch("suite", {"--gtest_filter=" + filter}), options));
}

TEST(SummaryDetailTest, QuietSaysNothingOfAPass) {
  const CommandResult result = RunSuite("*.Passes", {"--quiet"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.standard_error, "");
}

TEST(SummaryDetailTest, QuietTellsWhatFailed) {
  const CommandResult result = RunSuite("*.Passes:*.Leaks", {"--quiet"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.standard_error,
              AllOf(HasSubstr("Failure in Launch.Leaks"), HasSubstr("1 over budget")));
}

TEST(SummaryDetailTest, QuietTellsErrors) {
  const CommandResult result = RunSuite("*.Passes", {"--quiet", "--report", "json=/no/such/x"});
  EXPECT_NE(result.exit_code, 0);
  EXPECT_THAT(result.standard_error, HasSubstr("/no/such/x"));
}

TEST(SummaryDetailTest, VerboseTellsTheCostliestTests) {
  const CommandResult result = RunSuite("*.Leaks", {"--verbose"});
  EXPECT_THAT(result.standard_error, HasSubstr("\n  heaviest: Launch.Leaks "));
}

TEST(SummaryDetailTest, OnlyWhatStandsOutIsToldUnlessAskedFor) {
  EXPECT_THAT(RunSuite("*.Leaks", {}).standard_error,
              AllOf(HasSubstr("1 over budget"), Not(HasSubstr("heaviest: "))));
}

}  // namespace
}  // namespace leakgate::test
