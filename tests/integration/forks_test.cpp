// Children that are forked and execute nothing, and test binaries that execute themselves: their
// tests are the program's, and what a child loses is told.
#include <gmock/gmock.h>

#include "tests/integration/both_modes.h"

namespace leakgate::test {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

class ForksTest : public BothModes {
 protected:
  static const GatedRun& RunBy(const std::string& how) {
    return SharedRunByDefault({Fixture("forks")}, {}, {"RUN_BY=" + how});
  }
  static Outcome Loses() {
    return OverBudget({{101, 1, "malloc", "(anonymous namespace)::Forked_Loses_Test::TestBody()",
                        PlaceOf("processes/forks.cpp", "forked loses")}});
  }
};

TEST_P(ForksTest, JudgesTestsInForkedChildren) {
  const GatedRun& run = RunBy("forks");

  EXPECT_EQ(run.command.exit_code, 1);
  EXPECT_EQ(OutcomeOf(run.Test("Forked.Loses")), Loses());
  for (const char* test : {"Passes", "AddsToWhatItInherited", "HasADeathTest", "ForksItself"}) {
    EXPECT_EQ(run.Test(std::string("Forked.") + test)["verdict"], "pass") << test;
  }
}

TEST_P(ForksTest, RepeatsThemWhereTheyRun) {
  const nlohmann::json test = RunBy("forks").Test("Forked.Grows");

  EXPECT_EQ(test["verdict"], "over_budget") << test.value("reason", "");
}

TEST_P(ForksTest, IsInconclusiveWhereAChildEndsInATest) {
  const GatedRun run = RunByDefault({Fixture("forks"), "--gtest_filter=*DiesIfAsked"}, {},
                                    {.environment = {"RUN_BY=forks", "DIES=1"}});

  EXPECT_EQ(run.command.exit_code, 3) << run.command.standard_error;
}

TEST_P(ForksTest, JudgesTestsOfATestBinaryThatExecutesItself) {
  const GatedRun& run = RunBy("batches");

  EXPECT_EQ(run.command.exit_code, 1);
  EXPECT_EQ(OutcomeOf(run.Test("Forked.Loses")), Loses());
  EXPECT_EQ(run.Test("Forked.Passes")["verdict"], "pass");
  EXPECT_EQ(run.Test("Forked.HasADeathTest")["verdict"], "pass");
}

LEAKGATE_IN_BOTH_MODES(ForksTest);

class ForkingProgramTest : public testing::Test {
 protected:
  static GatedRun Run(const std::string& how) {
    return RunByDefault({FixturePath("forking_program"), how});
  }
  static std::vector<nlohmann::json> ProcessesOf(const GatedRun& run) {
    std::vector<nlohmann::json> processes;
    for (const nlohmann::json& window : run.report["windows"]) {
      if (window["kind"] == "process") processes.push_back(window);
    }
    return processes;
  }
  static Outcome Loses() {
    return OverBudget({{104, 1, "malloc", "(anonymous namespace)::Lose()",
                        PlaceOf("processes/forking_program.cpp", "a forked child")}});
  }
};

TEST_F(ForkingProgramTest, HasARowForWhatAChildLoses) {
  for (const char* how : {"loses", "loses_at_once", "nested", "clone", "closes", "threads"}) {
    const GatedRun run = Run(how);
    EXPECT_EQ(run.command.exit_code, 1) << how;
    EXPECT_NE(run.Window("program", "forking_program")["verdict"], "over_budget") << how;
    std::vector<nlohmann::json> lost = ProcessesOf(run);
    std::erase_if(lost, [](const auto& process) { return process["verdict"] != "over_budget"; });
    ASSERT_THAT(lost, SizeIs(1)) << how;
    EXPECT_EQ(lost.front()["name"], "forking_program (forked)");
    EXPECT_EQ(OutcomeOf(lost.front()), Loses()) << how;
  }
}

TEST_F(ForkingProgramTest, PassesWhereNoChildLosesWhatItMade) {
  for (const char* how : {"frees", "inherits", "executes"}) {
    const GatedRun run = Run(how);
    EXPECT_EQ(run.command.exit_code, 0) << how << run.command.standard_error;
  }
}

TEST_F(ForkingProgramTest, SaysNothingOfAChildThatDoesNotEndByItself) {
  for (const char* how : {"daemon", "killed"}) {
    const GatedRun run = Run(how);
    EXPECT_EQ(run.command.exit_code, 0) << how << run.command.standard_error;
    EXPECT_THAT(ProcessesOf(run), IsEmpty()) << how;
  }
}

TEST_F(ForkingProgramTest, PassesOnTheExitCode) { EXPECT_EQ(Run("code").command.exit_code, 7); }

}  // namespace
}  // namespace leakgate::test
