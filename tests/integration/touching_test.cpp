// What a program would find changed by the gate, if it were not for some care.
#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "tests/integration/both_modes.h"
#include "tests/support/command.h"

namespace leakgate::test {
namespace {

using testing::HasSubstr;

class TouchingTest : public BothModes {
 protected:
  // One run of leakgate, in a process group of its own: the fixture signals all of its group.
  struct Touched {
    CommandResult command;
    nlohmann::json report;
    std::string told;
    std::string log;
    std::string most_kib;
  };
  static const Touched& Run() {
    static std::map<std::string, Touched> runs;
    const auto [entry, is_new] = runs.try_emplace(Fixture("touching"));
    if (is_new) entry->second = RunOnce();
    return entry->second;
  }
  static std::string VerdictOf(const std::string& test) {
    for (const nlohmann::json& window : Run().report["windows"]) {
      if (window["name"] == test) return window["verdict"];
    }
    return "no such test";
  }

 private:
  static Touched RunOnce() {
    const TemporaryDirectory directory;
    const std::string report = directory.File("report.json");
    Touched touched;
    touched.command = RunCommand(
        {"setsid", "-w", LeakgatePath(), "run", "--report", "json=" + report, "--",
         Fixture("touching")},
        {.environment = {"FIXTURE_FILE=" + directory.File("kib")}, .directory = directory.path()});
    const std::string text = ReadFile(report);
    if (!text.empty()) touched.report = nlohmann::json::parse(text);
    touched.told = ReadFile(directory.File("report.txt"));
    touched.log = ReadFile(directory.File("log.txt"));
    touched.most_kib = ReadFile(directory.File("kib"));
    return touched;
  }
};

TEST_P(TouchingTest, ASignalToTheGroupThatTheProgramIgnoresDoesNotEndTheRun) {
  EXPECT_EQ(Run().command.signal, 0);
  EXPECT_EQ(Run().command.exit_code, 1) << Run().command.standard_error;
}

TEST_P(TouchingTest, RepetitionsWriteIntoACopyOfTheWorkingDirectory) {
  const CommandResult can_have = RunCommand(
      {"unshare", ::geteuid() == 0 ? "-m" : "-Urm", "mount", "-t", "tmpfs", "x", "/mnt"});
  if (can_have.exit_code != 0) GTEST_SKIP() << "this machine permits no mounts";
  EXPECT_EQ(Run().told, "8 tests\n");
  EXPECT_EQ(Run().log, "run\n");
}

TEST_P(TouchingTest, RepetitionsThatKeepMegabytesEndEarly) {
  EXPECT_EQ(VerdictOf("Touching.KeepsMegabytes"), "over_budget");
  EXPECT_LT(std::atol(Run().most_kib.c_str()), 512 * 1024);
}

TEST_P(TouchingTest, TestsWithPunctuationInTheirNamesAreRepeated) {
  EXPECT_EQ(VerdictOf("Typed/std::string.Grows"), "over_budget");
  EXPECT_EQ(VerdictOf("Typed/pair<int-1, char*>.Grows"), "over_budget");
}

TEST_P(TouchingTest, LockingAllMemoryLocksTheProgramsAlone) {
  EXPECT_EQ(VerdictOf("Locking.LocksTheProgramAlone"), "pass");
  EXPECT_EQ(VerdictOf("Locking.RefusesWhatTheKernelRefuses"), "pass");
  EXPECT_THAT(Run().command.standard_output, HasSubstr("[  PASSED  ]"));
}

TEST_P(TouchingTest, AFixedLimitOnTheAddressSpaceIsTheProgramsAlone) {
  EXPECT_EQ(VerdictOf("Limits.LowersItsAddressSpace"), "pass");
}

LEAKGATE_IN_BOTH_MODES(TouchingTest);

TEST(MockedCallsTest, AreRefusedBeforeTheProgramBegins) {
  for (const char* const name : {"mocked_calls_untouched", "wrapped_calls"}) {
    const CommandResult run = Leakgate({"run", "--", FixturePath(name)});
    EXPECT_EQ(run.exit_code, 3) << name;
    EXPECT_THAT(run.standard_error, HasSubstr("it has a socket of its own (a mock?)"));
    EXPECT_THAT(run.standard_error, HasSubstr("link leakgate::listener"));
    EXPECT_EQ(run.standard_output, "");
  }
}

TEST(MockedCallsTest, AreGatedWithTheListener) {
  const GatedRun run = RunByDefault({FixturePath("mocked_calls_listener")}, {"--confirm=off"});

  EXPECT_EQ(run.command.exit_code, 1) << run.command.standard_error;
  EXPECT_EQ(run.Test("Mocked.IsCalled")["verdict"], "pass");
  EXPECT_EQ(run.Test("Mocked.LosesABlock")["verdict"], "over_budget");
}

TEST(MockedCallsTest, MayHaveTheProcessIdAmongThem) {
  const GatedRun run = RunByDefault({FixturePath("own_getpid")}, {"--confirm=off"});

  EXPECT_EQ(run.command.exit_code, 1) << run.command.standard_error;
  EXPECT_EQ(run.Test("OwnGetpid.IsCalled")["verdict"], "pass");
  EXPECT_EQ(run.Test("OwnGetpid.LosesABlock")["verdict"], "over_budget");
}

// What a script executes was not looked at before. It runs as it would alone.
TEST(MockedCallsTest, RunUnchangedBehindAScript) {
  const CommandResult run =
      Leakgate({"run", "--", "/bin/sh", "-c", "exec \"$0\" --gtest_filter=-*.LosesABlock",
                FixturePath("wrapped_calls")});

  EXPECT_EQ(run.exit_code, 3) << run.standard_error;
  EXPECT_THAT(run.standard_output, HasSubstr("[  PASSED  ] 2 tests."));
  EXPECT_THAT(run.standard_error, HasSubstr("no tests are told apart: it has a socket of its own"));
}

// A dump of a process that is small alone is small.
TEST(CoreDumpTest, HasNothingOfTheAgents) {
  const std::string pattern = ReadFile("/proc/sys/kernel/core_pattern");
  if (pattern != "core\n") GTEST_SKIP() << "core files are written elsewhere: " << pattern;
  const TemporaryDirectory directory;
  const CommandResult run = RunCommand(
      {"sh", "-c", "ulimit -c unlimited; exec \"$0\" run -- sh -c 'kill -SEGV $$'", LeakgatePath()},
      {.directory = directory.path()});
  EXPECT_EQ(run.exit_code, 128 + SIGSEGV) << run.standard_error;
  std::uintmax_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory.path())) {
    bytes = std::max(bytes, std::filesystem::file_size(entry));
  }
  EXPECT_GT(bytes, 0U);
  EXPECT_LT(bytes, std::uintmax_t{16} << 20);
}

}  // namespace
}  // namespace leakgate::test
