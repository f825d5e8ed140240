// Programs that turn against leakgate, on purpose or because their tests do such things:
// signals, limits, tracing, forbidden system calls, memory taken away. The runner comes to an
// end in time, and what the test loses is no pass.
#include <gmock/gmock.h>

#include "tests/integration/launch_commands.h"

namespace leakgate::test {
namespace {

using testing::HasSubstr;
using testing::Not;

CommandResult RunDeed(const std::string& fixture, const std::string& deed) {
  // In a session of its own: some signal all of their group.
  Command command = {"setsid", "--wait"};
  const Command gated = Gated({FixturePath(fixture), "--gtest_filter=Deeds." + deed},
                              {"--strict", "--confirm=off", "--timeout", "60"});
  command.insert(command.end(), gated.begin(), gated.end());
  return RunCommand(command);
}

class HostileDeedsTest : public testing::TestWithParam<const char*> {};

TEST_P(HostileDeedsTest, HideNoLeak) {
  for (const char* fixture : {"deeds_untouched", "deeds_listener"}) {
    const CommandResult run = RunDeed(fixture, GetParam());
    EXPECT_EQ(run.signal, 0) << fixture;
    EXPECT_NE(run.exit_code, 0) << fixture << ": " << run.standard_error;
    EXPECT_THAT(run.standard_error, Not(HasSubstr("internal error"))) << fixture;
    EXPECT_THAT(run.standard_error, Not(HasSubstr("the timeout of"))) << fixture;
  }
}

INSTANTIATE_TEST_SUITE_P(
    , HostileDeedsTest,
    testing::Values("ForbidsFutexesOnPainOfDeath", "ForbidsMemory", "ForbidsKillAndTime",
                    "ForbidsToBeLookedAt", "SignalsTheRunner", "SignalsItsGroup",
                    "KillsTheRunnersOtherProcesses", "StopsTheRunnersOtherProcesses",
                    "HasItselfTraced", "IsTracedByItsChild", "TracesTheRunnersOtherProcesses",
                    "LimitsItself", "LimitsTheRunner", "ClosesAll", "ClosesEveryNumber",
                    "UnmapsTheRegion", "ProtectsTheRegion", "HidesTheRegion", "ReplacesTheRegion",
                    "WipesTheRegion", "WipesTheHeader", "WipesTheWindows", "FillsTheMailbox",
                    "SaysItHasEnded", "OpensManyWindows", "MapsAHugeRange"),
    [](const auto& test) { return std::string(test.param); });

TEST(DeedsReportTest, OnAWindowsTableAreToldAsSuch) {
  EXPECT_THAT(RunDeed("deeds_untouched", "WipesTheWindows").standard_error,
              HasSubstr("the program has written over the memory that it shares with leakgate"));
}

TEST(DeedsReportTest, ThatKillAProgramWhileItAsksLeaveNoPass) {
  const GatedRun run =
      RunGated({FixturePath("deeds_untouched"), "--gtest_filter=Deeds.ForbidsFutexesOnPainOfDeath"},
               {"--confirm=off"});
  EXPECT_NE(run.Test("Deeds.ForbidsFutexesOnPainOfDeath")["verdict"], "pass");
  EXPECT_NE(run.report["verdict"], "pass");
}

}  // namespace
}  // namespace leakgate::test
