// What the program's own code measures (leakgate::Window) and the snapshots that it takes:
// in GoogleTest's tests, in a program without any, and without leakgate.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/integration/both_modes.h"

namespace leakgate::test {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class MeasuringTest : public BothModes {
 protected:
  // All tests that are to pass.
  static const GatedRun& RunPassing() {
    return RunTests("measuring", "Measured.*-*NamesTheCallSite*:*ChangesNoVerdict:*WhenRepeated");
  }
  // "load: 64 B in 1, 2 times" of each measuring window.
  static std::vector<std::string> MeasuredIn(const nlohmann::json& window) {
    std::vector<std::string> texts;
    if (!window.contains("measuring_windows")) return texts;
    for (const nlohmann::json& measured : window["measuring_windows"]) {
      texts.push_back(measured["name"].get<std::string>() + ": " +
                      measured["outstanding"]["bytes"].dump() + " B in " +
                      measured["outstanding"]["blocks"].dump() + ", " + measured["count"].dump() +
                      " times");
    }
    return texts;
  }
};

TEST_P(MeasuringTest, FailedAssertionNamesTheCallSite) {
  const GatedRun run = RunTests("measuring", "Measured.NamesTheCallSiteInItsFailure");

  EXPECT_EQ(run.command.exit_code, 1);
  EXPECT_THAT(run.command.standard_output,
              AllOf(HasSubstr("Which is: 801 B in 1 block"), HasSubstr("Make(unsigned long)"),
                    ContainsRegex("measuring.cpp:[0-9]+"), HasSubstr("Which is: nothing")));
  // GoogleTest's own failure is no leak.
  EXPECT_EQ(OutcomeOf(run.Test("Measured.NamesTheCallSiteInItsFailure")), Pass());
}

TEST_P(MeasuringTest, ReportListsWhatWasOutstandingAtTheEnd) {
  const GatedRun& run = RunPassing();
  const nlohmann::json window = run.Test("Measured.TellsBytesAndBlocks");
  EXPECT_THAT(MeasuredIn(window), testing::ElementsAre("make three: 60 B in 2, 1 times"));
  EXPECT_THAT(window["measuring_windows"][0]["file"].get<std::string>(),
              testing::EndsWith("measuring.cpp"));
  EXPECT_FALSE(run.Test("Measured.PassesWhatIsFreed").contains("measuring_windows"));
}

TEST_P(MeasuringTest, PassesWhatTheTestsExpect) {
  const GatedRun& run = RunPassing();
  EXPECT_EQ(run.command.exit_code, 0) << run.command.standard_output;
  for (const std::string test :
       {"TellsBytesAndBlocks", "PassesWhatIsFreed", "NestsAndOverlaps", "CountsEveryThreadOrItsOwn",
        "MayBeginAndEndOnAnyThread", "AsksFromManyThreadsAtOnce", "LeavesOutWhatIsTheFrameworks",
        "IsNotInAForkChild"}) {
    EXPECT_EQ(OutcomeOf(run.Test("Measured." + test)), Pass()) << test;
  }
  EXPECT_EQ(run.Test("Measured.LeavesOutWhatCodeAllows")["allowed"]["bytes"], 803);
}

TEST_P(MeasuringTest, ChangesNoVerdict) {
  const GatedRun run = RunTests("measuring", "Measured.ChangesNoVerdict");

  EXPECT_EQ(run.command.exit_code, 1);
  const nlohmann::json window = run.Test("Measured.ChangesNoVerdict");
  EXPECT_EQ(window["verdict"], "over_budget");
  EXPECT_EQ(window["outstanding"]["bytes"], 804);
  EXPECT_THAT(MeasuredIn(window), testing::ElementsAre("not looked at: 804 B in 1, 1 times"));
  EXPECT_THAT(run.command.standard_output + run.command.standard_error,
              HasSubstr("measured: 804 B in 1 block outstanding at the end of 'not looked at'"));
}

TEST_P(MeasuringTest, ManyInALoopAreAllMeasured) {
  EXPECT_EQ(RunPassing().report["tracing"]["drops"], nlohmann::json::object());
  EXPECT_EQ(MeasuredIn(RunPassing().Test("Measured.ManyInALoop")), std::vector<std::string>());
}

TEST_P(MeasuringTest, MoreThanThereIsRoomForAreInconclusive) {
  const GatedRun run = RunTests("measuring", "Dropped.TooManyOpen");

  EXPECT_EQ(run.report["verdict"], "inconclusive");
  EXPECT_GT(run.report["tracing"]["drops"]["measuring_window_table_full"], 0);
  EXPECT_EQ(run.command.exit_code, 3) << run.command.standard_output;
}

TEST_P(MeasuringTest, IsMeasuredWhenTheTestIsRepeated) {
  const GatedRun run =
      RunByDefault({Fixture("measuring"), "--gtest_filter=Measured.IsMeasuredWhenRepeated"});

  const nlohmann::json window = run.Test("Measured.IsMeasuredWhenRepeated");
  EXPECT_EQ(window["verdict"], "over_budget") << window["reason"];
  EXPECT_EQ(window["findings"][0]["disposition"], "steady") << window;
}

TEST_P(MeasuringTest, BelongsToTheTestThatOpenedIt) {
  const GatedRun run = RunTests("measuring", "LeftOpen.*");

  EXPECT_THAT(MeasuredIn(run.Test("LeftOpen.ByOneTest")),
              testing::ElementsAre(StartsWith("left open: ")));
  EXPECT_EQ(run.Test("LeftOpen.EndedByAnother")["test_result"], "passed");
  EXPECT_FALSE(run.Test("LeftOpen.EndedByAnother").contains("measuring_windows"));
  const nlohmann::json last = run.Test("LeftOpen.UntilTheProgramEnds");
  EXPECT_THAT(MeasuredIn(last), testing::ElementsAre("never ended: 807 B in 1, 1 times"));
  EXPECT_EQ(last["measuring_windows"][0]["open_count"], 1);
}

TEST_P(MeasuringTest, VerboseSummaryListsThemAll) {
  const GatedRun run = RunTests("measuring", "Measured.TellsBytesAndBlocks", {"--verbose"});

  EXPECT_THAT(run.command.standard_error + run.command.standard_output,
              HasSubstr("Measured.TellsBytesAndBlocks: measured: 60 B in 2 blocks outstanding at "
                        "the end of 'make three'"));
}

TEST_P(MeasuringTest, TakesSnapshotsWhereTheCodeSays) {
  const TemporaryDirectory directory;
  std::filesystem::create_directory(directory.File("below"));
  std::filesystem::create_directory(directory.File("jail"));
  const GatedRun run = RunGated({Fixture("measuring"), "--gtest_filter=Snapshot.IsTaken*"}, {},
                                {.directory = directory.path()});

  EXPECT_EQ(run.command.exit_code, 0) << run.command.standard_output;
  for (const char* const name : {"taken.snapshot", "below/taken.snapshot"}) {
    EXPECT_THAT(ReadFile(directory.File(name)), StartsWith("leakgate-snapshot-")) << name;
  }
  const bool could_jail = run.Test("Snapshot.IsTakenInTheProcessesRoot")["test_result"] == "passed";
  // The test before it has moved into `below`.
  EXPECT_EQ(std::filesystem::exists(directory.File("jail/taken.snapshot")), could_jail);
  const CommandResult shown =
      RunCommand({LeakgatePath(), "snapshot", "show", directory.File("taken.snapshot")});
  EXPECT_EQ(shown.exit_code, 0) << shown.standard_error;
  EXPECT_THAT(shown.standard_output, HasSubstr("808 B"));
}

TEST_P(MeasuringTest, SaysWhyASnapshotFailed) {
  const GatedRun run = RunTests("measuring", "Snapshot.SaysWhyItFailed");

  EXPECT_EQ(run.command.exit_code, 1);
  EXPECT_THAT(run.command.standard_output, HasSubstr("nowhere/taken.snapshot"));
}

TEST_P(MeasuringTest, NothingIsMeasuredWithoutLeakgate) {
  const CommandResult result =
      RunCommand({Fixture("measuring"),
                  "--gtest_filter=Measured.ManyInALoop:Measured.NestsAndOverlaps:"
                  "Measured.NamesTheCallSite*:Snapshot.IsTakenWhere*"});

  // What is asserted to be there is not; what is asserted to be gone is.
  EXPECT_THAT(result.standard_output, HasSubstr("[       OK ] Measured.NamesTheCallSite"));
  EXPECT_THAT(result.standard_output, HasSubstr("[  FAILED  ] Measured.NestsAndOverlaps"));
  EXPECT_THAT(result.standard_output, HasSubstr("[  FAILED  ] Snapshot.IsTakenWhereTheCodeSays"));
}

LEAKGATE_IN_BOTH_MODES(MeasuringTest);

TEST(MeasuringPlainTest, ProgramWithoutTestsIsMeasured) {
  const TemporaryDirectory directory;
  const std::string file = directory.File("plain.snapshot");
  const GatedRun run = RunByDefault({FixturePath("measuring_plain"), file});

  EXPECT_EQ(run.command.exit_code, 0);
  EXPECT_THAT(run.command.standard_output,
              AllOf(HasSubstr("loaded: measured: 811 B in 1 block"), HasSubstr("> Load()"),
                    HasSubstr("ended: measured: nothing"), HasSubstr("snapshot: 1 \n")));
  EXPECT_THAT(ReadFile(file), StartsWith("leakgate-snapshot-"));
}

// A snapshot is written with the process's own rights: the runner's are root's.
class SnapshotRightsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can change users";
    std::filesystem::create_directory(others_);
    std::filesystem::permissions(directory_.path(), std::filesystem::perms(0755));
    ASSERT_EQ(::chown(others_.c_str(), kOther, kOther), 0);
  }
  // What the program says of a snapshot that it takes to `file` as another user.
  static std::string TakenTo(const std::string& file) {
    const GatedRun run = RunByDefault({FixturePath("measuring_plain"), file, "65534"});
    const std::string& text = run.command.standard_output;
    const std::size_t at = text.find("snapshot: ");
    return at == std::string::npos ? text : text.substr(at, text.find('\n', at) - at);
  }

  static constexpr uid_t kOther = 65534;
  const TemporaryDirectory directory_;  // root's
  const std::string others_ = directory_.File("others");
};

TEST_F(SnapshotRightsTest, AreNotTheRunnersWhereItMayNotCreateAFile) {
  const std::string file = directory_.File("taken.snapshot");

  EXPECT_EQ(TakenTo(file), "snapshot: 2 cannot write snapshot " + file +
                               ": Permission denied; make its directory writable with room for "
                               "it, or name another file");
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST_F(SnapshotRightsTest, AreNotTheRunnersWhereALinkLeads) {
  const std::string secret = directory_.File("secret");
  std::ofstream(secret) << "secret";
  std::filesystem::permissions(secret, std::filesystem::perms(0600));
  std::filesystem::create_symlink(secret, others_ + "/link");

  EXPECT_THAT(TakenTo(others_ + "/link"), HasSubstr("Permission denied"));
  EXPECT_EQ(ReadFile(secret), "secret");
}

TEST_F(SnapshotRightsTest, AreTheProcessesOwn) {
  const std::string file = others_ + "/taken.snapshot";
  ASSERT_EQ(TakenTo(file), "snapshot: 1 ");
  ASSERT_EQ(TakenTo(file), "snapshot: 1 ");  // it is replaced

  struct stat facts {};
  ASSERT_EQ(::stat(file.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_uid, kOther);
  EXPECT_EQ(facts.st_mode & 07777, 0600U);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(others_), {}), 1);  // nothing beside
  const CommandResult shown = RunCommand({LeakgatePath(), "snapshot", "show", file});
  EXPECT_EQ(shown.exit_code, 0) << shown.standard_error;
}

// The kernel would end the process by a signal.
TEST(MeasuringPlainTest, SaysThatItMayNotWriteAFileOfThatSize) {
  const TemporaryDirectory directory;
  const std::string file = directory.File("plain.snapshot");
  const CommandResult result =
      RunCommand({LeakgatePath(), "run", "--", "sh", "-c",
                  "ulimit -f 1; exec " + FixturePath("measuring_plain") + " " + file});

  EXPECT_EQ(result.exit_code, 0) << result.standard_error;
  EXPECT_THAT(result.standard_output, HasSubstr("File too large"));
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST(MeasuringPlainTest, OverwritesAFileThatALinkLeadsTo) {
  const TemporaryDirectory directory;
  const std::string file = directory.File("real.snapshot");
  std::ofstream(file) << std::string(1 << 20, 'x');
  std::filesystem::create_symlink(file, directory.File("link"));
  const GatedRun run = RunByDefault({FixturePath("measuring_plain"), directory.File("link")});

  EXPECT_THAT(run.command.standard_output, HasSubstr("snapshot: 1 \n"));
  const CommandResult shown = RunCommand({LeakgatePath(), "snapshot", "show", file});
  EXPECT_EQ(shown.exit_code, 0) << shown.standard_error;
  EXPECT_TRUE(std::filesystem::is_symlink(directory.File("link")));
}

TEST(MeasuringPlainTest, TakesNoSnapshotToAFifoNorADirectory) {
  const TemporaryDirectory directory;
  const std::string fifo = directory.File("fifo");
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  for (const auto& [path, why] :
       {std::pair{fifo, "it is not a regular file"}, std::pair{directory.path(), "Is a directory"},
        std::pair{std::string("/dev/null"), "it is not a regular file"}}) {
    const GatedRun run = RunByDefault({FixturePath("measuring_plain"), path});
    EXPECT_THAT(run.command.standard_output,
                HasSubstr("snapshot: 2 cannot write snapshot " + path + ": " + why));
  }
}

TEST(MeasuringPlainTest, RunsTheSameWithoutLeakgate) {
  const TemporaryDirectory directory;
  const std::string file = directory.File("plain.snapshot");
  const CommandResult result = RunCommand({FixturePath("measuring_plain"), file});

  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.standard_output,
            "loaded: not measured: nothing\nended: not measured: nothing\nsnapshot: 0 \n");
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST(MeasuringPlainTest, NeedsNoLibraryOfLeakgates) {
  const CommandResult libraries = RunCommand({"ldd", FixturePath("measuring_plain")});

  EXPECT_THAT(libraries.standard_output, AllOf(HasSubstr("libc.so"), Not(HasSubstr("leakgate"))));
}

}  // namespace
}  // namespace leakgate::test
