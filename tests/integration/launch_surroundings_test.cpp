// A program under leakgate starts with what it would start with alone: each
// test compares one aspect of a gated run with that of a native one.
#include <gmock/gmock.h>

#include <algorithm>
#include <sstream>

#include "tests/integration/launch_commands.h"

namespace leakgate::test {
namespace {

struct BothRuns {
  std::string native;
  std::string gated;
};

// What `probe ASPECT` prints alone and gated, both started by a shell after `set_up`.
BothRuns Probe(const std::string& aspect, const std::string& set_up = "") {
  const Command probe = Launch("probe", {aspect});
  return {RunCommand(Behind(set_up, probe)).standard_output,
          RunCommand(Behind(set_up, Gated(probe))).standard_output};
}

void ExpectSame(const BothRuns& runs) {
  EXPECT_NE(runs.native, "");
  EXPECT_EQ(runs.gated, runs.native);
}

TEST(LaunchSurroundingsTest, KeepsTheWorkingDirectory) {
  ExpectSame(Probe("directory", "cd /usr/share"));
}

TEST(LaunchSurroundingsTest, KeepsTheFileCreationMask) { ExpectSame(Probe("umask", "umask 027")); }

TEST(LaunchSurroundingsTest, KeepsTheNiceness) { ExpectSame(Probe("nice", "renice -n 5 $$ >&2")); }

TEST(LaunchSurroundingsTest, KeepsTheProcessGroupAndTheTerminal) { ExpectSame(Probe("group")); }

TEST(LaunchSurroundingsTest, KeepsTheRights) { ExpectSame(Probe("rights")); }

TEST(LaunchSurroundingsTest, StartsWithOneThread) { ExpectSame(Probe("children")); }

TEST(LaunchSurroundingsTest, PassesStandardInputOnByteForByte) {
  const std::string text("a\0b\n\xff", 5);
  const CommandResult result =
      RunCommand(Gated(Launch("probe", {"input"})), {.standard_input = text});
  EXPECT_EQ(result.standard_output, text);
}

TEST(LaunchSurroundingsTest, PassesStandardErrorOn) {
  const CommandResult result =
      RunCommand(Gated(Launch("probe", {"input"})), {.standard_input = "abc"});
  EXPECT_THAT(result.standard_error, testing::StartsWith("3 bytes\n"));
}

TEST(LaunchSurroundingsTest, PassesArgumentsOnAsTheyAre) {
  const CommandResult result =
      RunCommand(Gated(Launch("probe", {"arguments", "", "a b", "--", "--timeout", "-h", "*"})));
  EXPECT_THAT(result.standard_output,
              testing::EndsWith("[arguments]\n[]\n[a b]\n[--]\n[--timeout]\n[-h]\n[*]\n"));
}

TEST(LaunchSurroundingsTest, KeepsTheProgramsNameAsTyped) {
  const CommandOptions in_fixtures{.directory = FixturePath("")};
  const CommandResult result =
      RunCommand(Gated({"./../fixtures/launch_probe", "arguments"}), in_fixtures);
  EXPECT_THAT(result.standard_output, testing::StartsWith("[./../fixtures/launch_probe]\n"));
}

TEST(LaunchSurroundingsTest, KeepsInheritedDescriptors) {
  ExpectSame(Probe("descriptors", "exec 5</etc/passwd 9>/dev/null; read -u 5; read line <&5"));
}

TEST(LaunchSurroundingsTest, LeavesNoDescriptorOfItsOwn) { ExpectSame(Probe("descriptors")); }

TEST(LaunchSurroundingsTest, KeepsClosedStandardInputClosed) {
  ExpectSame(Probe("descriptors", "exec <&-"));
}

TEST(LaunchSurroundingsTest, KeepsClosedStandardErrorClosed) {
  ExpectSame(Probe("descriptors", "exec 2>&-"));
}

// nohup's SIGHUP, a background job's SIGINT and SIGQUIT; and what the runner
// needs for itself.
TEST(LaunchSurroundingsTest, KeepsIgnoredSignals) {
  ExpectSame(Probe("signals", "trap '' HUP INT QUIT CHLD PIPE XFSZ TSTP USR1"));
}

TEST(LaunchSurroundingsTest, KeepsDefaultSignals) { ExpectSame(Probe("signals")); }

TEST(LaunchSurroundingsTest, KeepsBlockedSignals) {
  const std::string block =
      "import os, signal, sys\n"
      "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT, signal.SIGUSR1, signal.SIGCHLD])\n"
      "os.execvp(sys.argv[1], sys.argv[1:])";
  const Command probe = Launch("probe", {"signals"});
  const auto blocked = [&](const Command& command) {
    Command python = {"python3", "-c", block};
    python.insert(python.end(), command.begin(), command.end());
    return RunCommand(python).standard_output;
  };
  ExpectSame({blocked(probe), blocked(Gated(probe))});
}

TEST(LaunchSurroundingsTest, KeepsResourceLimits) {
  ExpectSame(Probe("limits", "ulimit -Sn 64; ulimit -c 0; ulimit -Sf 100; ulimit -s 4096"));
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

bool IsLeakgates(const std::string& variable) {
  return variable.starts_with("LD_PRELOAD=") || variable.starts_with("LEAKGATE_CONTROL=");
}

TEST(LaunchSurroundingsTest, AddsOnlyItsOwnVariablesToTheEnvironment) {
  const BothRuns runs = Probe("environment", "export TWO_LINES=$'a\\nb' EMPTY=");
  std::vector<std::string> gated = Lines(runs.gated);
  EXPECT_EQ(std::erase_if(gated, IsLeakgates), 2);
  EXPECT_EQ(gated, Lines(runs.native));
}

// Such a child would look for the host that only the agent knows, and abort.
TEST(LaunchSurroundingsTest, SpoilsNoGoogleTestChildThatComesWithoutTheAgent) {
  const std::string suite = FixturePath("launch_suite") + " --gtest_filter=*.Passes";
  const CommandResult run =
      RunCommand(Gated({"sh", "-c", "env -u LD_PRELOAD " + suite + " && echo passed"}));
  EXPECT_THAT(run.standard_output, testing::HasSubstr("passed\n"));
  EXPECT_EQ(run.exit_code, 3) << run.standard_error;  // it was not gated either
}

TEST(LaunchSurroundingsTest, KeepsWhatWasPreloadedBehindTheAgent) {
  const BothRuns runs = Probe("environment", "export LD_PRELOAD=libm.so.6");
  EXPECT_THAT(runs.gated,
              testing::ContainsRegex("LD_PRELOAD=/[^ \n]*leakgate_agent.so:libm.so.6\n"));
}

}  // namespace
}  // namespace leakgate::test
