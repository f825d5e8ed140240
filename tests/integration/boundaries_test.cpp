// Test boundaries survive what tests do to their process, and nothing of them
// shows in it.
#include <gmock/gmock.h>

#include "tests/integration/both_modes.h"

namespace leakgate::test {
namespace {

using testing::EndsWith;

class BoundariesTest : public BothModes {
 protected:
  static GatedRun Run(const std::string& filter, const std::vector<std::string>& environment = {}) {
    return RunGated({Fixture("boundaries"), "--gtest_filter=" + filter}, {},
                    {.environment = environment});
  }
  static Outcome LeakOf(const std::string& function, long bytes, const std::string& marker) {
    return OverBudget({{bytes, 1, "malloc", function, PlaceOf("boundaries.cpp", marker)}});
  }
};

TEST_P(BoundariesTest, WritesNothingIntoADescriptorThatATestTookOver) {
  const TemporaryDirectory directory;
  const std::string file = directory.File("mine");
  const GatedRun run = Run("Descriptors.*", {"FIXTURE_FILE=" + file});

  EXPECT_EQ(run.Test("Descriptors.AreAllClosedAndTakenOver")["test_result"], "passed");
  EXPECT_EQ(ReadFile(file), "mine\n");
}

TEST_P(BoundariesTest, GatesTestsAfterAllDescriptorsWereClosed) {
  const TemporaryDirectory directory;
  const GatedRun run = Run("Descriptors.*", {"FIXTURE_FILE=" + directory.File("mine")});

  EXPECT_EQ(
      OutcomeOf(run.Test("Descriptors.LeaksLater")),
      LeakOf("Descriptors_LeaksLater_Test::TestBody()", 100, "after all descriptors were closed"));
}

TEST_P(BoundariesTest, GatesTestsAfterRootAndUserWereChanged) {
  EXPECT_EQ(OutcomeOf(Run("Root.*").Test("Root.LeaksLater")),
            LeakOf("Root_LeaksLater_Test::TestBody()", 110, "after root was changed"));
}

TEST_P(BoundariesTest, StreamDoesNotShowInTheEnvironment) {
  EXPECT_EQ(
      RunTests("boundaries", "Environment.*").Test("Environment.ShowsNoStream")["test_result"],
      "passed");
}

TEST_P(BoundariesTest, NestedTestsRunAsEverAndAreNotGated) {
  const GatedRun run =
      Run("Nested.*", {"FIXTURE_NESTED=" + Fixture("features") + " --gtest_filter=Plain.Leaks"});

  EXPECT_EQ(run.Test("Nested.RunsAsEver")["test_result"], "passed") << run.command.standard_output;
  EXPECT_EQ(OutcomeOf(run.Test("Nested.RunsAsEver")), Pass());
  EXPECT_EQ(run.Test("Plain.Leaks"), nullptr);
}

TEST_P(BoundariesTest, KeepsNamesWithEveryCharacter) {
  EXPECT_EQ(OutcomeOf(Run("Suite&name=x.*").Test("Suite&name=x.100%&passed=1%41\nevent=TestEnd")),
            LeakOf("Registered::TestBody()", 120, "special name"));
}

TEST_P(BoundariesTest, SaysWhoToldTheBoundaries) {
  EXPECT_EQ(RunTests("boundaries", "Environment.*").report["tracing"]["boundaries"],
            IsListener() ? "listener" : "stream");
}

TEST_P(BoundariesTest, AreThoseOfEachRunOfAProgramThatRunsItsTestsSeveralTimes) {
  const GatedRun run = RunGated({Fixture("several_runs")});

  EXPECT_THAT(run.command.standard_output, EndsWith("three runs ended\n"));
  EXPECT_EQ(OutcomeOf(run.Test("First.Passes")), Pass());
  EXPECT_EQ(OutcomeOf(run.Test("Second.Leaks")),
            OverBudget({{100, 1, "malloc", "Second_Leaks_Test::TestBody()",
                         PlaceOf("several_runs.cpp", "second run")}}));
  EXPECT_EQ(OutcomeOf(run.Test("Third.Leaks")),
            OverBudget({{200, 1, "malloc", "Third_Leaks_Test::TestBody()",
                         PlaceOf("several_runs.cpp", "third run")}}));
  EXPECT_EQ(run.command.exit_code, 1);
}

// GoogleTest streams each failure, and aborts where it has closed the stream already.
TEST_P(BoundariesTest, LeaveTheExitCodeAloneWhenAnExpectationFailsAfterAllTests) {
  for (const std::string where :
       {"main", "thread", "listener", "exit", "again", "child", "child's tests"}) {
    const GatedRun run = RunGated({Fixture("late_expectations"), where}, {"--warn-only"});

    EXPECT_EQ(run.command.exit_code, 7) << where << "\n" << run.command.standard_error;
    EXPECT_EQ(OutcomeOf(run.Test("Suite.Leaks")),
              OverBudget({{100, 1, "malloc", "Suite_Leaks_Test::TestBody()",
                           PlaceOf("late_expectations.cpp", "before a late failure")}}))
        << where;
  }
}

// What is freed by the suite's tear-down, or by another thread, is the test's all the same. With
// brief output GoogleTest allocates nothing in between.
TEST_P(BoundariesTest, DoNotDependOnWhatGoogleTestPrints) {
  for (const std::string option : {"--gtest_brief=0", "--gtest_brief=1"}) {
    const GatedRun run = RunGated(
        {Fixture("late_frees"), option},
        {"--budgets", std::string(LEAKGATE_SOURCE_DIR) + "/tests/fixtures/literal.leakgate.json"});
    const auto leak = [](const std::string& fixture, long bytes, const std::string& marker) {
      return OverBudget({{bytes, 1, "malloc",
                          "(anonymous namespace)::" + fixture + "_LeavesABlock_Test::TestBody()",
                          PlaceOf("late_frees.cpp", marker)}});
    };
    EXPECT_EQ(OutcomeOf(run.Test("TornDown.LeavesABlock")),
              leak("TornDown", 100, "until the tear-down"))
        << option;
    EXPECT_EQ(OutcomeOf(run.Test("FreedByThread.LeavesABlock")),
              leak("FreedByThread", 200, "until the thread's end"))
        << option;
    EXPECT_EQ(OutcomeOf(run.Test("Clean.LeavesNone")), Pass()) << option;
  }
}

// Without a limit that is literal they are released late, which is no leak.
TEST_P(BoundariesTest, LetBlocksPassThatTheTearDownFrees) {
  const GatedRun run =
      RunByDefault({Fixture("late_frees"), "--gtest_brief=1", "--gtest_filter=-Losing.*"});
  EXPECT_EQ(run.command.exit_code, 0) << run.command.standard_error;
}

// Nor is it where the test fails for another block.
TEST_P(BoundariesTest, ChargeATestThatFailsWithNothingThatTheTearDownFrees) {
  const nlohmann::json test =
      RunByDefault({Fixture("late_frees")}).Test("Losing.LosesABlockAndKeepsAnother");
  EXPECT_EQ(test["lost"]["bytes"], 301);
  ASSERT_EQ(test["findings"].size(), 2) << test.dump(1);
  EXPECT_EQ(test["findings"][1]["disposition"], "released_later");
}

LEAKGATE_IN_BOTH_MODES(BoundariesTest);

// A test's end without anything outstanding makes no system call.
class SystemCallsTest : public BothModes {
 protected:
  static nlohmann::json LastTest(const std::string& filter) {
    return RunTests("system_calls", filter).Test("Z/End.HasSeenNoSystemCall/0");
  }
};

TEST_P(SystemCallsTest, NoneAreMadeByAThousandTestsThatPass) {
  EXPECT_EQ(LastTest("-Outstanding.*")["test_result"], "passed");
}

TEST_P(SystemCallsTest, SomeAreMadeWhenABlockIsOutstanding) {
  EXPECT_NE(LastTest("*")["test_result"], "passed");
}

LEAKGATE_IN_BOTH_MODES(SystemCallsTest);

}  // namespace
}  // namespace leakgate::test
