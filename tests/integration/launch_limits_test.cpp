// Limits on the program and its runner: those that the user has set, and --timeout.
#include <gmock/gmock.h>

#include "tests/integration/launch_commands.h"
#include "tests/support/public_copy.h"

namespace leakgate::test {
namespace {

using testing::HasSubstr;

// Small resource limits and few rights do not keep a run from being gated; and
// where they do, it is said.

// The leak is found by a leakgate started with the limits of `set_up`.
void ExpectGated(const std::string& set_up) {
  const CommandResult result = RunCommand(Behind(set_up, Gated(kLeaks)));
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.standard_error, HasSubstr("100 B in 1 block retained"));
}

// As a system with strict rules does (SELinux): no memory that is written becomes code.
TEST(LaunchLimitsTest, AProgramWhoseCodeMayNotChangeIsUntracedAndRuns) {
  constexpr const char* kScript =
      "import ctypes, os, sys\n"
      "PR_SET_MDWE = 65\n"
      "if ctypes.CDLL(None).prctl(PR_SET_MDWE, 1, 0, 0, 0) != 0: sys.exit(77)\n"
      "os.execvp(sys.argv[1], sys.argv[1:])";
  Command command = {"python3", "-c", kScript};
  const Command gated = Gated(Launch("tcmalloc_inside"));
  command.insert(command.end(), gated.begin(), gated.end());
  const CommandResult run = RunCommand(command);
  if (run.exit_code == 77) GTEST_SKIP() << "this kernel has no such rule (Linux 6.3 has)";
  EXPECT_EQ(run.exit_code, 3) << run.standard_error;
  EXPECT_THAT(run.standard_error, HasSubstr("its own allocator could not be led to the agent"));
}

TEST(LaunchLimitsTest, FewDescriptorsAreEnough) { ExpectGated("ulimit -n 32"); }

TEST(LaunchLimitsTest, TooFewDescriptorsToRepeatATestLeaveItUnconfirmed) {
  // How many are enough for the run itself and too few for that differs between machines; and root
  // raises them, unless it has lost the right to.
  Command command = Gated(kLeaks, {"--strict"});
  const Command without_right = {"setpriv", "--bounding-set=-sys_resource"};
  if (RunCommand({without_right[0], without_right[1], "true"}).exit_code == 0) {
    command.insert(command.begin(), without_right.begin(), without_right.end());
  }
  CommandResult result;
  for (int limit = 13; limit > 8; --limit) {
    const std::string set_up = "ulimit -n " + std::to_string(limit);
    result = RunCommand(Behind(set_up, command));
    if (result.standard_error.find("Too many open files") != std::string::npos) break;
  }
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.standard_error, HasSubstr("Too many open files"));
  EXPECT_THAT(result.standard_error, HasSubstr("Launch.Leaks"));
}

TEST(LaunchLimitsTest, TwoGibibytesOfAddressSpaceAreEnough) { ExpectGated("ulimit -v 2097152"); }

TEST(LaunchLimitsTest, ASmallStackIsEnough) { ExpectGated("ulimit -s 256"); }

TEST(LaunchLimitsTest, ASoftLimitOnFileSizeIsNoHindrance) { ExpectGated("ulimit -Sf 0"); }

TEST(LaunchLimitsTest, AProgramThatMayWriteNoFileIsGated) {
  const GatedRun run =
      RunGated({"bash", "-c", "ulimit -f 0; exec \"$@\"", "bash", kLeaks[0], kLeaks[1]});
  EXPECT_EQ(run.Test("Launch.Leaks")["outstanding"]["bytes"], 100);
}

TEST(LaunchLimitsTest, TooLittleAddressSpaceIsInconclusive) {
  const CommandResult result = RunCommand(Behind("ulimit -v 300000", Gated({"true"})));
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.standard_error, HasSubstr("raise the limit on address space (ulimit -v)"));
}

TEST(LaunchLimitsTest, TooLittleAddressSpaceInTheProgramIsInconclusive) {
  const CommandResult result =
      RunCommand(Gated({"sh", "-c", "prlimit --pid $$ --as=204800000; exec true"}));
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.standard_error, HasSubstr("(ulimit -v)"));
}

// What the agent takes is no part of a limit that the program itself sets.
TEST(LaunchLimitsTest, AProgramThatLowersItsAddressSpaceIsGated) {
  const CommandResult result = RunCommand(Gated({"sh", "-c", "ulimit -v 200000; exec true"}));
  EXPECT_EQ(result.exit_code, 0) << result.standard_error;
}

TEST(LaunchLimitsTest, AnOrdinaryUserCanGate) {
  if (::geteuid() != 0) return ExpectGated("");
  const PublicCopy copy;
  const CommandResult result =
      RunCommand({"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", copy.Leakgate(),
                  "run", "--", copy.Add(FixturePath("launch_suite")), "--gtest_filter=*.Leaks"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.standard_error, HasSubstr("100 B in 1 block retained"));
}

// --timeout ends the program and all that it started, and keeps what was found.

TEST(LaunchTimeoutTest, EndsAHangingTestAndNamesIt) {
  const GatedRun run = RunGated(Launch("suite", {"--gtest_filter=*.Hangs"}), {"--timeout", "0.3"});
  EXPECT_EQ(run.command.exit_code, 3);
  EXPECT_THAT(run.command.standard_error,
              HasSubstr("the timeout of 0.3 s was reached while this test ran: Launch.Hangs"));
  EXPECT_EQ(run.Test("Launch.Hangs")["verdict"], "inconclusive");
}

TEST(LaunchTimeoutTest, KeepsTheFindingsSoFar) {
  const GatedRun run =
      RunGated(Launch("suite", {"--gtest_filter=*.Leaks:*.Hangs"}), {"--timeout", "1"});
  EXPECT_EQ(run.Test("Launch.Leaks")["outstanding"]["bytes"], 100);
  EXPECT_EQ(run.Test("Launch.Leaks")["verdict"], "over_budget");
}

TEST(LaunchTimeoutTest, LeavesTheVerdictOfTestsThatHadEnded) {
  const GatedRun run =
      RunGated(Launch("suite", {"--gtest_filter=*.Passes:*.Hangs"}), {"--timeout", "1"});
  EXPECT_EQ(run.Test("Launch.Passes")["verdict"], "pass");
  EXPECT_EQ(run.Test("Launch.Hangs")["verdict"], "inconclusive");
}

TEST(LaunchTimeoutTest, KillsChildrenAndDaemonsToo) {
  RunningCommand command(
      Gated(Launch("suite", {"--gtest_filter=*.HangsWithDescendants"}), {"--timeout", "1"}));
  const std::string first = command.RestOfOutput();
  EXPECT_EQ(command.WaitForShellCode(), 3);
  for (const std::string word : {"child ", "daemon "}) {
    const std::size_t at = first.find(word);
    ASSERT_NE(at, std::string::npos) << first;
    EXPECT_TRUE(GoesSoon(std::stoi(first.substr(at + word.size())))) << word;
  }
}

TEST(LaunchTimeoutTest, IsInSecondsWithAFraction) {
  const auto begin = std::chrono::steady_clock::now();
  const CommandResult run = RunCommand(Gated({"sleep", "20"}, {"--timeout", "0.25"}));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(250));
  EXPECT_EQ(run.exit_code, 3);  // it did not sleep to its end
  EXPECT_THAT(run.standard_error, HasSubstr("the timeout of 0.25 s was reached"));
}

TEST(LaunchTimeoutTest, DoesNotConcernAProgramThatEndsInTime) {
  EXPECT_EQ(RunCommand(Gated({"true"}, {"--timeout", "60"})).exit_code, 0);
}

}  // namespace
}  // namespace leakgate::test
