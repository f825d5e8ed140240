// --stack-depth: where stacks are cut, and that a cut one says so.
#include <gmock/gmock.h>

#include "tests/integration/both_modes.h"

namespace leakgate::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class DepthsTest : public BothModes {
 protected:
  static GatedRun Run(const std::vector<std::string>& options) {
    return RunGated({Fixture("depths")}, options);
  }
  static nlohmann::json FindingOf(const GatedRun& run) {
    return run.Test("Depths.LeaksAfter1000Calls")["findings"][0];
  }
  static std::ptrdiff_t DeepFrames(const nlohmann::json& finding) {
    const auto is_deep = [](const nlohmann::json& frame) {
      return frame["function"] == "LeakAtDepth(int)";
    };
    return std::count_if(finding["stack"].begin(), finding["stack"].end(), is_deep);
  }
};

TEST_P(DepthsTest, CutsAt256FramesUnlessTold) {
  const GatedRun run = Run({});
  EXPECT_EQ(FindingOf(run)["stack"].size(), 256U);
  EXPECT_EQ(FindingOf(run)["stack_end"], "depth_limit");
  EXPECT_EQ(run.report["tracing"]["stack_ends"]["depth_limit"], 1);
}

TEST_P(DepthsTest, CutsWhereItIsTold) {
  const GatedRun run = Run({"--stack-depth", "3"});
  EXPECT_EQ(FindingOf(run)["stack"].size(), 3U);
  EXPECT_EQ(FindingOf(run)["stack_end"], "depth_limit");
  EXPECT_THAT(run.command.standard_output + run.command.standard_error,
              HasSubstr("... the stack is cut here: depth limit (--stack-depth)\n"));
}

TEST_P(DepthsTest, TellsAThousandFramesIfAsked) {
  const GatedRun run = Run({"--stack-depth", "1024"});
  EXPECT_EQ(DeepFrames(FindingOf(run)), 1000);
  EXPECT_EQ(FindingOf(run)["stack_end"], "outermost");
  EXPECT_FALSE(run.report["tracing"]["stack_ends"].contains("depth_limit"));
  EXPECT_THAT(run.command.standard_output + run.command.standard_error, Not(HasSubstr("cut here")));
}

LEAKGATE_IN_BOTH_MODES(DepthsTest);

TEST(StackDepthTest, RefusesABadDepthInOneLineBeforeAnythingRuns) {
  const CommandResult result =
      RunCommand({LeakgatePath(), "run", "--stack-depth", "0", "--", "echo", "ran"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.standard_output, "");
  EXPECT_EQ(result.standard_error,
            "leakgate: --stack-depth '0': not a number of frames from 1 to 1024; write for example "
            "--stack-depth 512\n");
}

}  // namespace
}  // namespace leakgate::test
