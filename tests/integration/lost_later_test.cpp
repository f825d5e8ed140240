// Blocks that are lost after the window that allocated them has ended, programs without tests, and
// processes of which it cannot be told what they lost.
#include <gmock/gmock.h>

#include "tests/integration/both_modes.h"
#include "tests/integration/findings.h"
#include "tests/support/public_copy.h"

namespace leakgate::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class LostLaterTest : public BothModes {
 protected:
  static const GatedRun& Run() {
    return SharedRunByDefault({Fixture("lost_later"), "--gtest_filter=-Undumpable*"});
  }
  // The verdict on a test; the explanation of its first lost finding, if it has one.
  static std::string FateOf(const nlohmann::json& window) {
    for (const nlohmann::json& finding : UsersFindings(window)) {
      if (finding["reach"] == "lost") return finding.value("explanation", "lost");
    }
    return window["verdict"];
  }
};

TEST_P(LostLaterTest, FailsTheTestWhoseBlockALaterTestForgets) {
  EXPECT_EQ(FateOf(Run().Test("Global.IsReplaced")), "lost after the test had ended");
  EXPECT_EQ(Run().Test("Global.IsReplaced")["verdict"], "over_budget");
  EXPECT_EQ(Run().Test("Global.IsReplaced")["lost"]["bytes"], 1 << 20);
  EXPECT_EQ(Run().Test("Global.IsMade")["verdict"], "pass");
  EXPECT_EQ(Run().Test("Global.IsForgotten")["verdict"], "pass");
  EXPECT_EQ(Run().command.exit_code, 1);
  EXPECT_THAT(Run().command.standard_error, HasSubstr("lost after the test had ended"));
}

TEST_P(LostLaterTest, PassesWhatIsReplacedAndKept) {
  for (const std::string name : {"IsMade", "IsReplaced", "IsLeftAlone"}) {
    EXPECT_EQ(Run().Test("KeptGlobal." + name)["verdict"], "pass") << name;
  }
}

TEST_P(LostLaterTest, FailsTheSuiteWhoseObjectTheNextSuiteOverwrites) {
  EXPECT_EQ(FateOf(Run().Window("suite", "FirstSuite")), "lost after the suite had ended");
  EXPECT_EQ(Run().Window("suite", "FirstSuite")["verdict"], "over_budget");
  EXPECT_EQ(Run().Window("suite", "SecondSuite")["verdict"], "not_gated");
}

TEST_P(LostLaterTest, FailsTheTestWhoseWorkerLosesItsBlockLater) {
  EXPECT_EQ(FateOf(Run().Test("Worker.Holds")), "lost after the test had ended");
  EXPECT_EQ(FateOf(Run().Test("TidyWorker.Holds")), "pass");
}

TEST_P(LostLaterTest, PassesWhatIsHeldUntilStaticDestructorsRun) {
  EXPECT_EQ(FateOf(Run().Test("Destructor.LetsAnElementGo")), "pass");
  EXPECT_EQ(FateOf(Run().Test("Destructor.FreesAll")), "pass");
}

TEST_P(LostLaterTest, TellsEachIterationApart) {
  const GatedRun run = RunByDefault(
      {Fixture("lost_later"), "--gtest_filter=Global.*:KeptGlobal.*", "--gtest_repeat=3"});
  for (const int iteration : {1, 2, 3}) {
    EXPECT_EQ(run.Test("Global.IsReplaced", iteration)["lost"]["blocks"], 1) << iteration;
    EXPECT_EQ(run.Test("KeptGlobal.IsReplaced", iteration)["verdict"], "pass") << iteration;
  }
}

TEST_P(LostLaterTest, HoldsNobodyToItWhoLimitsWhatIsOutstandingAlone) {
  const GatedRun run = RunGated({Fixture("lost_later"), "--gtest_filter=Global.IsForgotten"});
  EXPECT_EQ(run.Test("Global.IsForgotten")["verdict"], "pass");
}

LEAKGATE_IN_BOTH_MODES(LostLaterTest);

// Programs by how they end, with what `what` does before.
GatedRun End(const std::string& what, const std::string& how,
             const std::vector<std::string>& more = {}) {
  std::vector<std::string> command = {FixturePath("program_end"), what, how};
  command.insert(command.end(), more.begin(), more.end());
  return RunByDefault(command);
}

std::string ProgramVerdict(const GatedRun& run) {
  return run.Window("program", "program_end").value("verdict", "none");
}

TEST(ProgramEndTest, FailsAProgramWithoutTestsForWhatItLost) {
  for (const std::string how : {"return", "exit", "quick_exit", "_exit", "thread"}) {
    const GatedRun run = End("loses", how);
    EXPECT_EQ(ProgramVerdict(run), "over_budget") << how;
    EXPECT_EQ(run.Window("program", "program_end")["lost"]["bytes"], 7003) << how;
    EXPECT_EQ(run.command.exit_code, 1) << how;
  }
}

TEST(ProgramEndTest, PassesAProgramWithoutTestsThatLosesNothing) {
  for (const std::string what : {"keeps", "frees", "registers"}) {
    for (const std::string how : {"return", "exit", "quick_exit", "_exit"}) {
      const GatedRun run = End(what, how);
      EXPECT_EQ(ProgramVerdict(run), "pass") << what << ' ' << how;
      EXPECT_EQ(run.command.exit_code, 0) << what << ' ' << how;
      if (what != "keeps") continue;
      EXPECT_THAT(run.command.standard_error,
                  testing::HasSubstr("held at the program's end, which passes"))
          << how;
    }
  }
}

TEST(ProgramEndTest, FailsAProgramForWhatADestructorAllocatesAndLoses) {
  const GatedRun run = End("ends_badly", "return");
  EXPECT_EQ(ProgramVerdict(run), "over_budget");
  EXPECT_THAT(run.command.standard_error,
              AllOf(HasSubstr("7005 B"), HasSubstr("lost as static destructors ran")));
}

TEST(ProgramEndTest, FailsWhatMainLosesAfterTheTests) {
  EXPECT_EQ(ProgramVerdict(End("loses", "return", {"run"})), "over_budget");
  EXPECT_EQ(ProgramVerdict(End("keeps", "return", {"run"})), "pass");
  EXPECT_EQ(ProgramVerdict(End("frees", "exit", {"run"})), "pass");
}

TEST(ProgramEndTest, DoesNotGateAProgramThatExecutesAnother) {
  const GatedRun run = End("loses", "exec");
  EXPECT_EQ(ProgramVerdict(run), "not_gated");
  EXPECT_EQ(run.command.exit_code, 0) << run.command.standard_error;
}

// An ordinary user's: root may look at any process.
CommandResult AsUser(const std::string& test) {
  const PublicCopy copy;
  return RunCommand({"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", copy.Leakgate(),
                     "run", "--", copy.Add(FixturePath("lost_later_untouched")),
                     "--gtest_filter=" + test});
}

TEST(UntoldTest, IsInconclusiveWhereATestMayHaveLostBlocks) {
  for (const std::string test : {"Undumpable.LosesOnce", "Undumpable.KeepsOnce"}) {
    const CommandResult result = AsUser(test);
    EXPECT_EQ(result.exit_code, 3) << test << result.standard_error;
    EXPECT_THAT(result.standard_error,
                AllOf(HasSubstr("what it lost could not be told: "), HasSubstr("allow ptrace")));
  }
}

TEST(UntoldTest, IsInconclusiveWhereASuiteMayHaveLostBlocks) {
  EXPECT_EQ(AsUser("UndumpableSuite.Passes").exit_code, 3);
}

TEST(UntoldTest, PassesWhatLeavesNothing) {
  const CommandResult result = AsUser("Undumpable.LeavesNothing");
  EXPECT_EQ(result.exit_code, 0) << result.standard_error;
  EXPECT_THAT(result.standard_error, Not(HasSubstr("could not be told")));
}

}  // namespace
}  // namespace leakgate::test
