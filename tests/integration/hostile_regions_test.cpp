// A program that scribbles on what it shares with the runner: the runner comes to an end,
// in time, with a verdict or a reason. Whatever it says then is about that program.
#include <gmock/gmock.h>

#include "tests/integration/launch_commands.h"

namespace leakgate::test {
namespace {

class HostileRegionsTest : public testing::TestWithParam<int> {
 protected:
  void ExpectAnEnd(const std::string& filter) {
    const std::string seed = std::to_string(GetParam());
    const Command command =
        Behind("export SEED=" + seed, Gated({FixturePath("hostile_scribbling_suite"),
                                             "--gtest_filter=" + filter, "--gtest_brief=1"},
                                            {"--timeout", "20", "--confirm=off", "--report",
                                             "json=/dev/null", "--report", "html=/dev/null"}));
    const CommandResult run = RunCommand(command);
    EXPECT_EQ(run.signal, 0) << "leakgate died, with SEED=" << seed;
    EXPECT_NE(run.standard_error, "");
    EXPECT_THAT(run.standard_error, testing::Not(testing::HasSubstr("internal error")));
  }
};

TEST_P(HostileRegionsTest, OfAProgramThatDiesAtOnceAreJudged) { ExpectAnEnd("Scribbles.AndDies"); }

TEST_P(HostileRegionsTest, OfAProgramThatGoesOnAreJudged) {
  ExpectAnEnd("Scribbles.WhileTestsGoOn:*Goes.On/*");
}

INSTANTIATE_TEST_SUITE_P(, HostileRegionsTest, testing::Range(1, 11));

}  // namespace
}  // namespace leakgate::test
