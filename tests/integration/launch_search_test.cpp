// Which file is run: by path, by PATH, through scripts and exec; and what is
// said where there is none.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "tests/integration/launch_commands.h"
#include "tests/support/public_copy.h"

namespace leakgate::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string Script(const TemporaryDirectory& directory, const std::string& text) {
  const std::string path = directory.Write("script", text);
  ::chmod(path.c_str(), 0755);
  return path;
}

// Exit code 2, and one line that says `text`.
void ExpectUsageError(const CommandResult& result, const std::string& text) {
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.standard_output, "");
  EXPECT_THAT(result.standard_error, testing::MatchesRegex("leakgate: [^\n]*\n"));
  EXPECT_THAT(result.standard_error, HasSubstr(text));
}

TEST(LaunchSearchTest, LooksANameUpInPath) {
  const CommandResult result =
      RunCommand(Gated({"launch_probe", "arguments"}),
                 {.environment = {"PATH=/nonexistent:" + FixturePath("")}});
  EXPECT_EQ(result.standard_output, "[launch_probe]\n[arguments]\n");
}

TEST(LaunchSearchTest, SaysThatAPathDoesNotExist) {
  ExpectUsageError(RunCommand(Gated({"./no_such_test"})), "./no_such_test: no such program");
}

TEST(LaunchSearchTest, SaysThatANameIsNotInPath) {
  ExpectUsageError(RunCommand(Gated({"no_such_test"})),
                   "no_such_test: not found in PATH; for a program in this directory write "
                   "./no_such_test");
}

TEST(LaunchSearchTest, SaysThatAFileIsNotExecutable) {
  ExpectUsageError(RunCommand(Gated({"/etc/passwd"})), "/etc/passwd: not executable: ");
}

TEST(LaunchSearchTest, SaysThatADirectoryIsNoProgram) {
  ExpectUsageError(RunCommand(Gated({"/usr"})), "/usr: not an executable file");
}

TEST(LaunchSearchTest, SaysWhatAScriptWithoutInterpreterLacks) {
  const TemporaryDirectory directory;
  ExpectUsageError(RunCommand(Gated({Script(directory, "exit 0\n")})), "#!/bin/sh");
}

TEST(LaunchSearchTest, SaysThatAnInterpreterDoesNotExist) {
  const TemporaryDirectory directory;
  ExpectUsageError(RunCommand(Gated({Script(directory, "#!/no/such/shell\n")})),
                   "cannot be executed: No such file or directory");
}

TEST(LaunchSearchTest, RunsAScriptByItsInterpreter) {
  const TemporaryDirectory directory;
  const GatedRun run = RunGated({Script(directory, "#!/bin/sh\necho \"$0 $1\"; exit 4\n"), "a"});
  EXPECT_EQ(run.command.standard_output, directory.File("script") + " a\n");
  EXPECT_EQ(run.command.exit_code, 4);
  EXPECT_EQ(run.report["tracing"]["boundaries"], "none");
}

TEST(LaunchSearchTest, GatesTheTestsThatAScriptExecutes) {
  const TemporaryDirectory directory;
  const std::string script =
      Script(directory, "#!/bin/sh\nexec " + FixturePath("launch_suite") + " \"$@\"\n");
  const GatedRun run = RunGated({script, "--gtest_filter=*.Leaks"});
  EXPECT_EQ(run.Test("Launch.Leaks")["outstanding"]["bytes"], 100);
  EXPECT_EQ(run.command.exit_code, 1);
}

TEST(LaunchSearchTest, GatesTheTestsAtTheEndOfAChainOfExecs) {
  const GatedRun run =
      RunGated({"env", "A=1", "nice", "-n", "1", "sh", "-c",
                "exec " + FixturePath("launch_suite") + " --gtest_filter=*.Leaks"});
  EXPECT_EQ(run.Test("Launch.Leaks")["outstanding"]["bytes"], 100);
}

TEST(LaunchSearchTest, GatesTheTestsThatAnotherUserRuns) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can change users";
  const PublicCopy copy;
  const CommandResult result =
      RunCommand({copy.Leakgate(), "run", "--", "setpriv", "--reuid=65534", "--clear-groups",
                  copy.Add(FixturePath("launch_suite")), "--gtest_filter=*.Leaks"});
  EXPECT_THAT(result.standard_error, HasSubstr("100 B in 1 block retained"));
}

constexpr char kOneTest[] = " --gtest_filter=*.Leaks";

// The process that is gated is the wrapper's; its child is another.
TEST(LaunchSearchTest, IsInconclusiveWhereAScriptsChildRunsTests) {
  const std::string suite = FixturePath("launch_suite");
  const GatedRun run = RunGated({"sh", "-c", "(" + suite + kOneTest + "); exit 0"});
  EXPECT_EQ(run.command.exit_code, 3);
  EXPECT_THAT(run.command.standard_output, HasSubstr("1 test from 1 test suite ran"));
  EXPECT_THAT(run.command.standard_error,
              HasSubstr("the tests of " + suite +
                        " were not gated: dash started it as another "
                        "process; run leakgate on the test binary itself (leakgate run -- " +
                        suite + ")"));
}

TEST(LaunchSearchTest, IsInconclusiveWhereAWrapperRunsTests) {
  const GatedRun run =
      RunGated({"timeout", "60", FixturePath("launch_suite"), "--gtest_filter=*.Leaks"});
  EXPECT_EQ(run.command.exit_code, 3);
  EXPECT_THAT(run.command.standard_error, HasSubstr("were not gated: timeout started it"));
}

TEST(LaunchSearchTest, IsInconclusiveWhereAWrappersTestsRunWithoutTheAgent) {
  const GatedRun run =
      RunGated({"sh", "-c", "(env -i " + FixturePath("launch_suite") + kOneTest + "); exit 0"});
  EXPECT_EQ(run.command.exit_code, 3);
  EXPECT_THAT(run.command.standard_error, HasSubstr("were not gated: dash started it"));
}

TEST(LaunchSearchTest, PassesWhereAScriptsChildOnlyListsItsTests) {
  const GatedRun run =
      RunGated({"sh", "-c", "(" + FixturePath("launch_suite") + " --gtest_list_tests); exit 0"});
  EXPECT_EQ(run.command.exit_code, 0);
  EXPECT_THAT(run.command.standard_error,
              HasSubstr("no test boundaries, so only the program was judged"));
}

TEST(LaunchSearchTest, PassesWhereAnotherLeakgateGatesTheTests) {
  const GatedRun run = RunGated({"sh", "-c",
                                 LeakgatePath() + " run -- " + FixturePath("launch_suite") +
                                     " --gtest_filter=*.Passes; exit 0"});
  EXPECT_EQ(run.command.exit_code, 0) << run.command.standard_error;
  EXPECT_THAT(run.command.standard_error, HasSubstr("1 test: 1 pass"));
}

// What a test does is its own business, until a budget file names the process.
TEST(LaunchSearchTest, PassesWhereATestRunsATestBinary) {
  const GatedRun run = RunGated({FixturePath("launch_suite"), "--gtest_filter=*.RunsTests"});
  EXPECT_EQ(run.command.exit_code, 0) << run.command.standard_error;
}

}  // namespace
}  // namespace leakgate::test
