// A disk without room: what could not be written is told in a line that names the file and
// what to do, with exit code 3 where the program's own is 0; the file that was there is kept,
// and nothing else is left.
#include <gmock/gmock.h>

#include "tests/integration/launch_commands.h"
#include "tests/support/heap_on_request.h"

namespace leakgate::test {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

constexpr char kOldReport[] = "what an earlier run has written";

// Of the files on the full disk, once the command has ended.
struct FullDiskResult {
  CommandResult command;
  std::string files;  // their names
  std::string old;    // what "old" holds
};

class FullDiskTest : public testing::Test {
 protected:
  void SetUp() override {
    if (OnAFullDisk({"true"}).command.exit_code != 0) GTEST_SKIP() << "nothing can be mounted here";
  }

  // With "old" and a file that takes all the room, on a file system that only the command sees.
  FullDiskResult OnAFullDisk(const Command& command) const {
    const std::string script = R"sh(
mount -t tmpfs -o size=16k none "$DISK" || exit 99
printf %s "$OLD" > "$DISK/old"
cat /dev/zero > "$DISK/filler" 2> /dev/null
"$@"
code=$?
ls -A "$DISK" | tr '\n' ' ' > "$TOLD/files"
cat "$DISK/old" > "$TOLD/old"
exit $code)sh";
    Command shell = {"unshare", "--mount", "--propagation", "private",
                     "bash",    "-c",      script,          "bash"};
    shell.insert(shell.end(), command.begin(), command.end());
    FullDiskResult result;
    result.command =
        RunCommand(shell, {.environment = {"DISK=" + disk_.path(), "TOLD=" + told_.path(),
                                           std::string("OLD=") + kOldReport}});
    result.files = ReadFile(told_.File("files"));
    result.old = ReadFile(told_.File("old"));
    return result;
  }

  static void ExpectTold(const FullDiskResult& result, const std::string& what,
                         const std::string& file) {
    EXPECT_THAT(result.command.standard_error,
                HasSubstr("leakgate: " + what + " " + file + ": No space left on device; "));
    EXPECT_THAT(result.command.standard_error, Not(HasSubstr("internal error")));
    EXPECT_EQ(result.files, "filler old ");
    EXPECT_EQ(result.old, kOldReport);
  }

  std::string OnDisk(const std::string& name) const { return disk_.File(name); }

  const TemporaryDirectory disk_;
  const TemporaryDirectory told_;
};

class FullDiskReportTest : public FullDiskTest, public testing::WithParamInterface<std::string> {
 protected:
  std::string Report(const std::string& name) const { return GetParam() + "=" + OnDisk(name); }
};

// Of a run that has something to tell, and passes.
TEST_P(FullDiskReportTest, KeepsTheOldReport) {
  const FullDiskResult run =
      OnAFullDisk(Gated(kLeaks, {"--warn-only", "--confirm=off", "--report", Report("old")}));
  EXPECT_EQ(run.command.exit_code, 3);
  ExpectTold(run, "cannot write report", OnDisk("old"));
}

TEST_P(FullDiskReportTest, LeavesNoneWhereThereWasNone) {
  const FullDiskResult run =
      OnAFullDisk(Gated(kLeaks, {"--warn-only", "--confirm=off", "--report", Report("new")}));
  EXPECT_EQ(run.command.exit_code, 3);
  ExpectTold(run, "cannot write report", OnDisk("new"));
}

INSTANTIATE_TEST_SUITE_P(, FullDiskReportTest, testing::ValuesIn(ReportFormats()),
                         [](const auto& test) { return test.param; });

TEST_F(FullDiskTest, HidesNoExitCodeOfTheProgram) {
  const FullDiskResult run =
      OnAFullDisk(Gated({"sh", "-c", "exit 7"}, {"--report", "json=" + OnDisk("old")}));
  EXPECT_EQ(run.command.exit_code, 7);
  ExpectTold(run, "cannot write report", OnDisk("old"));
}

TEST_F(FullDiskTest, HidesNoVerdict) {
  const FullDiskResult run = OnAFullDisk(
      Gated(kLeaks, {"--report", "json=" + OnDisk("old"), "--budgets",
                     std::string(LEAKGATE_SOURCE_DIR) + "/tests/fixtures/literal.leakgate.json"}));
  EXPECT_EQ(run.command.exit_code, 1);
  EXPECT_THAT(run.command.standard_error, HasSubstr("Launch.Leaks"));
  ExpectTold(run, "cannot write report", OnDisk("old"));
}

TEST_F(FullDiskTest, HoldsNoSnapshotsOfTests) {
  const FullDiskResult run = OnAFullDisk(Gated(Launch("suite", {"--gtest_filter=*.Passes"}),
                                               {"--snapshots", disk_.path(), "--when=every"}));
  EXPECT_EQ(run.command.exit_code, 3);
  EXPECT_THAT(run.command.standard_error,
              MatchesRegex("(.|\n)*leakgate: cannot write snapshot " + disk_.path() +
                           "/launch_suite[^ ]*\\.snapshot: No space left on device; [^\n]*\n"));
  EXPECT_EQ(run.files, "filler old ");
}

TEST_F(FullDiskTest, HoldsNoSnapshotOfAProcess) {
  HeapOnRequest program{HeapOnRequest::Run{}};
  const std::string pid = std::to_string(program.pid());
  const FullDiskResult taken =
      OnAFullDisk({LeakgatePath(), "snapshot", "take", "--pid", pid, "-o", OnDisk("new.snapshot")});
  EXPECT_EQ(taken.command.exit_code, 3);
  ExpectTold(taken, "cannot write snapshot", OnDisk("new.snapshot"));

  const FullDiskResult periodic = OnAFullDisk({LeakgatePath(), "snapshot", "periodic", "--pid", pid,
                                               "--every", "10ms", "-o", disk_.path()});
  EXPECT_EQ(periodic.command.exit_code, 3);
  ExpectTold(periodic, "cannot write snapshot",
             OnDisk("heap_on_request-" + pid + "-0001.snapshot"));
  EXPECT_EQ(program.End(), 0);
}

TEST_F(FullDiskTest, HoldsNoSnapshotOfASession) {
  const std::string session = "full-disk-" + std::to_string(::getpid());
  HeapOnRequest program{session};
  const FullDiskResult stopped =
      OnAFullDisk({LeakgatePath(), "session", "stop", session, "-o", OnDisk("new.snapshot")});
  EXPECT_EQ(stopped.command.exit_code, 3);
  ExpectTold(stopped, "cannot write snapshot", OnDisk("new.snapshot"));
  program.End();
  Leakgate({"session", "stop", session});
}

// The session goes on without it, and says so whenever it is asked.
TEST_F(FullDiskTest, IsToldOfARecordingOfASession) {
  const std::string session = "full-recording-" + std::to_string(::getpid());
  const std::string script = R"sh(
"$1" session start "$2" --image heap_on_request --record "$DISK" || exit 98
printf 'keep 7 100\n' | "$1" session exec "$2" -- "$3"
for i in $(seq 600); do
  "$1" session query "$2" | grep 'its recording fails' && break
  sleep 0.1
done
"$1" session query "$2" --json | grep recording_problem
"$1" session stop "$2")sh";
  const FullDiskResult told = OnAFullDisk(
      {"bash", "-c", script, "bash", LeakgatePath(), session, FixturePath("heap_on_request")});
  EXPECT_EQ(told.command.exit_code, 3) << told.command.standard_error;
  EXPECT_THAT(told.command.standard_output,
              AllOf(MatchesRegex("(.|\n)* its recording fails: cannot write recording [^\n]*: "
                                 "No space left on device(.|\n)*"),
                    HasSubstr("\"recording_problem\": \"cannot write recording ")));
}

TEST_F(FullDiskTest, IsToldOfARecordingThatCannotBegin) {
  const std::string session = "no-recording-" + std::to_string(::getpid());
  const std::string script = R"sh(
"$1" session start "$2" --image heap_on_request --record "$DISK" || exit 98
mount -o remount,ro "$DISK"
printf 'keep 7 100\n' | "$1" session exec "$2" -- "$3"
"$1" session query "$2"
"$1" session query "$2" --json
"$1" session stop "$2")sh";
  const FullDiskResult told = OnAFullDisk(
      {"bash", "-c", script, "bash", LeakgatePath(), session, FixturePath("heap_on_request")});
  EXPECT_THAT(told.command.standard_output,
              AllOf(HasSubstr("Read-only file system"), HasSubstr("\"problem\": \"")));
}

// What is made of the results of other runs.
class FullDiskResultsTest : public FullDiskTest {
 protected:
  FullDiskResultsTest() {
    RunCommand(Gated({FixturePath("features_untouched"), "--gtest_brief=1"},
                     {"--confirm=off", "--report", "json=" + result_}));
  }
  const TemporaryDirectory directory_;
  const std::string result_ = directory_.File("result.json");
};

TEST_F(FullDiskResultsTest, AreNotMergedByHalves) {
  for (const std::string format : {"json", "html", "junit"}) {
    const FullDiskResult merged =
        OnAFullDisk({LeakgatePath(), "merge", "--report", format + "=" + OnDisk("old"), result_});
    EXPECT_THAT(merged.command.exit_code, AnyOf(1, 3)) << format;  // the merged run's own is 1
    ExpectTold(merged, "cannot write report", OnDisk("old"));
  }
}

TEST_F(FullDiskResultsTest, AreNotAddedToAHistoryByHalves) {
  const std::string history = directory_.File("history");
  ASSERT_EQ(Leakgate({"history", "add", history, result_}).exit_code, 0);
  const std::string before = ReadFile(history);
  // A second result, so that there is something to add.
  RunCommand(Gated({FixturePath("kinds_untouched"), "--gtest_brief=1"},
                   {"--confirm=off", "--report", "json=" + directory_.File("second.json")}));
  const std::string script = R"sh(
cat "$HISTORY" > "$DISK/history"
cat /dev/zero > "$DISK/filler" 2> /dev/null
"$@"; code=$?
cmp "$HISTORY" "$DISK/history" && echo same
ls "$DISK"
exit $code)sh";
  const std::string mount = "mount -t tmpfs -o size=256k none \"$DISK\" || exit 99\n";
  const CommandResult added = RunCommand(
      {"unshare", "--mount", "--propagation", "private", "bash", "-c", mount + script, "bash",
       LeakgatePath(), "history", "add", OnDisk("history"), directory_.File("second.json")},
      {.environment = {"DISK=" + disk_.path(), "HISTORY=" + history}});
  EXPECT_EQ(added.exit_code, 3);
  EXPECT_THAT(added.standard_error,
              AllOf(HasSubstr("leakgate: " + OnDisk("history") + ": "),
                    HasSubstr("; the history is as it was; try again, or make room\n")));
  EXPECT_EQ(added.standard_output, "same\nfiller\nhistory\n");
}

TEST_F(FullDiskResultsTest, MakeNoHistory) {
  const FullDiskResult added =
      OnAFullDisk({LeakgatePath(), "history", "add", OnDisk("history"), result_});
  EXPECT_EQ(added.command.exit_code, 3);
  EXPECT_THAT(added.command.standard_error, HasSubstr("leakgate: " + OnDisk("history") + ": "));
  EXPECT_THAT(added.files, AnyOf("filler old ", "filler history old "));  // empty: it can begin
}

TEST_F(FullDiskTest, HoldsNoBudgetFile) {
  const FullDiskResult made =
      OnAFullDisk({LeakgatePath(), "budget", "init", "--component", "c", "-o", OnDisk("new"), "--",
                   FixturePath("launch_suite"), "--gtest_filter=Launch.Passes"});
  EXPECT_EQ(made.command.exit_code, 3);
  EXPECT_THAT(made.command.standard_error,
              HasSubstr(OnDisk("new") + ": No space left on device; "));
  EXPECT_EQ(made.files, "filler old ");
}

}  // namespace
}  // namespace leakgate::test
