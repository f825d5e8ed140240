// A real process against a model of its own: what threads leave after some hundred
// thousand allocations of every kind is told to the byte.
#include <gmock/gmock.h>

#include <regex>

#include "tests/integration/both_modes.h"

namespace leakgate::test {
namespace {

class StressTest : public BothModes {};

TEST_P(StressTest, TellsWhatThreadsLeaveToTheByte) {
  const GatedRun run = RunTests("stress", "Stress.*");
  std::smatch left;
  ASSERT_TRUE(std::regex_search(run.command.standard_output, left,
                                std::regex("left: ([0-9]+) bytes in ([0-9]+) blocks")));
  const nlohmann::json leaving = run.Test("Stress.LeavesWhatItSays");
  EXPECT_EQ(leaving["outstanding"]["bytes"], std::stol(left[1]));
  EXPECT_EQ(leaving["outstanding"]["blocks"], std::stol(left[2]));
  EXPECT_GT(std::stol(left[2]), 100);

  const nlohmann::json freeing = run.Test("Stress.FreesItAll");
  EXPECT_EQ(freeing["verdict"], "pass");
  EXPECT_EQ(freeing["growth"]["bytes"], -std::stol(left[1]));
  EXPECT_EQ(freeing["growth"]["blocks"], -std::stol(left[2]));
  EXPECT_TRUE(run.report["tracing"]["drops"].empty());
}

LEAKGATE_IN_BOTH_MODES(StressTest);

}  // namespace
}  // namespace leakgate::test
