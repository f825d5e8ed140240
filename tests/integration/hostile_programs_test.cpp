// Programs that are hard on whoever lives in them, that turn against leakgate, or that scribble on
// what they share with it: each behaves as alone, and what it loses is no pass.
#include <gmock/gmock.h>

#include "tests/integration/launch_commands.h"

namespace leakgate::test {
namespace {

using testing::HasSubstr;
using testing::Not;

// Programs that are hard on whoever lives in them: what they print and how they end is the
// same under leakgate as alone. tests/fixtures/hostile says what each does.

class HostileHostsTest : public testing::TestWithParam<const char*> {
 protected:
  void ExpectTheSame(const std::string& fixture, const std::string& argument) {
    const Command program = {FixturePath(fixture), GetParam(), argument};
    const CommandResult alone = RunCommand(program);
    ASSERT_NE(ShellCode(alone), 99) << "no such mode";
    const CommandResult gated = RunCommand(Gated(program, {"--timeout", "60"}));
    EXPECT_EQ(ShellCode(gated), ShellCode(alone)) << gated.standard_error;
    EXPECT_EQ(gated.standard_output, alone.standard_output);
  }
};

TEST_P(HostileHostsTest, EndsAsItDoesAlone) {
  const TemporaryDirectory directory;
  ExpectTheSame("hostile_host", directory.path());
}

TEST_P(HostileHostsTest, EndsAsItDoesAloneAtAFixedAddressWithoutSectionHeaders) {
  const TemporaryDirectory directory;
  ExpectTheSame("hostile_host_bare", directory.path());
}

INSTANTIATE_TEST_SUITE_P(
    , HostileHostsTest,
    testing::Values(
        "fork_among_allocating_threads", "vfork_among_allocating_threads",
        "posix_spawn_among_allocating_threads", "raw_clone",
        "raw_clone_of_a_thread_of_the_same_memory", "daemon_that_closes_all_descriptors",
        "closes_all_descriptors", "forbids_system_calls_by_signal", "forbids_system_calls_by_error",
        "little_address_space", "no_files_and_no_descriptors", "no_more_processes",
        "another_root_and_user", "signal_storm", "longjmp_out_of_handlers", "own_stacks",
        "coroutines", "exceptions_through_c", "stack_overflow", "stack_overflow_that_is_caught",
        "exit_of_a_thread", "exit_at_once", "quick_exit", "abort", "abort_in_a_handler_of_exit",
        "exit_in_a_handler_of_exit", "main_thread_ends_first", "thousands_of_threads",
        "destructors_of_threads_that_allocate", "cancelled_threads", "library_that_comes_and_goes"),
    [](const auto& test) { return std::string(test.param); });

// Programs that turn against leakgate, on purpose or because their tests do such things:
// signals, limits, tracing, forbidden system calls, memory taken away. The runner comes to an
// end in time, and what the test loses is no pass.

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

// A program that scribbles on what it shares with the runner: the runner comes to an end,
// in time, with a verdict or a reason. Whatever it says then is about that program.

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
