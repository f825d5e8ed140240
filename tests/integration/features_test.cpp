// GoogleTest's kinds of tests: each is gated under its own name, and a leak is
// charged to it however the test ends.
#include <gmock/gmock.h>

#include "tests/integration/both_modes.h"

namespace leakgate::test {
namespace {

class FeaturesTest : public BothModes {
 protected:
  // But for death tests.
  static const GatedRun& RunAll() { return RunTests("features", "-*Death*"); }
  static Leak Malloc(long bytes, const std::string& function, const std::string& marker) {
    return {bytes, 1, "malloc", function, PlaceOf("features.cpp", marker)};
  }
};

TEST_P(FeaturesTest, GatesTypedTestsByTheirFullNames) {
  const GatedRun& run = RunAll();
  const auto leak = [](long bytes, const std::string& type) {
    return OverBudget({{bytes, 1, "new", "Typed_Leaks_Test<" + type + ">::TestBody()",
                        PlaceOf("features.cpp", "typed")}});
  };
  EXPECT_EQ(OutcomeOf(run.Test("Typed/0.Leaks")), leak(1, "char"));
  EXPECT_EQ(OutcomeOf(run.Test("Typed/1.Leaks")), leak(8, "double"));
}

TEST_P(FeaturesTest, GatesParameterisedTestsByTheirFullNames) {
  const GatedRun& run = RunAll();
  const auto leak = [](long bytes) {
    return OverBudget({Malloc(bytes, "Named_Leaks_Test::TestBody()", "parameter")});
  };
  EXPECT_EQ(OutcomeOf(run.Test("By/Named.Leaks/Size11")), leak(11));
  EXPECT_EQ(OutcomeOf(run.Test("By/Named.Leaks/Size22")), leak(22));
  EXPECT_EQ(OutcomeOf(run.Test("Unnamed/Named.Leaks/0")), leak(33));
}

TEST_P(FeaturesTest, ChargesALeakBeforeASkip) {
  EXPECT_EQ(OutcomeOf(RunAll().Test("Skipped.InTheBody")),
            OverBudget({Malloc(110, "Skipped_InTheBody_Test::TestBody()", "skipped")}));
}

TEST_P(FeaturesTest, PassesATestThatSetUpSkipped) {
  EXPECT_EQ(OutcomeOf(RunAll().Test("SkippedInSetUp.NeverRuns")), Pass());
}

TEST_P(FeaturesTest, PassesATestWhoseSuiteSkips) {
  EXPECT_EQ(OutcomeOf(RunAll().Test("SkippedBySuite.IsEmpty")), Pass());
}

TEST_P(FeaturesTest, HasNoWindowForADisabledTest) {
  EXPECT_EQ(RunAll().Test("Disabled.DISABLED_Leaks"), nullptr);
}

TEST_P(FeaturesTest, GatesADisabledTestThatIsRun) {
  const GatedRun run = RunGated(
      {Fixture("features"), "--gtest_filter=Disabled.*", "--gtest_also_run_disabled_tests"});
  EXPECT_EQ(OutcomeOf(run.Test("Disabled.DISABLED_Leaks")),
            OverBudget({Malloc(120, "Disabled_DISABLED_Leaks_Test::TestBody()", "disabled")}));
}

TEST_P(FeaturesTest, ChargesALeakBeforeAnException) {
  EXPECT_EQ(OutcomeOf(RunAll().Test("Throws.AfterALeak")),
            OverBudget({Malloc(130, "Throws_AfterALeak_Test::TestBody()", "thrown")}));
}

TEST_P(FeaturesTest, ChargesALeakAfterAnAssertionsEarlyReturn) {
  EXPECT_EQ(
      OutcomeOf(RunAll().Test("Asserts.ReturnsBeforeItFrees")),
      OverBudget({Malloc(140, "Asserts_ReturnsBeforeItFrees_Test::TestBody()", "assertion")}));
}

TEST_P(FeaturesTest, FailedTestWithoutALeakIsWithinItsBudget) {
  const GatedRun& run = RunTests("features", "Asserts.FailsWithoutALeak");

  EXPECT_EQ(OutcomeOf(run.Test("Asserts.FailsWithoutALeak")), Pass());
  EXPECT_EQ(run.report["verdict"], "pass");
}

TEST_P(FeaturesTest, PassesOnTheProgramsOwnExitCodeWhenATestFails) {
  EXPECT_EQ(RunTests("features", "Asserts.FailsWithoutALeak").command.exit_code, 1);
}

TEST_P(FeaturesTest, TellsLeaksFromFailingTestsByTheExitCode) {
  const auto code_of = [](const std::string& filter) {
    return RunByDefault({Fixture("features"), "--gtest_filter=" + filter}, {"--exit-code", "9"})
        .command.exit_code;
  };
  EXPECT_EQ(code_of("Plain.*"), 9);
  EXPECT_EQ(code_of("Plain.*:Asserts.FailsWithoutALeak"), 1);
  EXPECT_EQ(code_of("Plain.Passes"), 0);
}

TEST_P(FeaturesTest, TellsThatATestPassed) {
  EXPECT_EQ(RunAll().Test("Plain.Passes")["test_result"], "passed");
}

class DeathTestsTest : public BothModes {
 protected:
  static void ExpectEach(const std::string& test, const Outcome& outcome) {
    const GatedRun& run = RunTests("features", "Styles/Death." + test + "/*");
    EXPECT_EQ(OutcomeOf(run.Test("Styles/Death." + test + "/fast")), outcome);
    EXPECT_EQ(OutcomeOf(run.Test("Styles/Death." + test + "/threadsafe")), outcome);
  }
};

TEST_P(DeathTestsTest, ChildsLeaksAreNotCharged) { ExpectEach("LeaksInTheChild", Pass()); }

TEST_P(DeathTestsTest, ParentsLeakIsCharged) {
  ExpectEach("LeaksInTheParent",
             OverBudget({{150, 1, "malloc", "Death_LeaksInTheParent_Test::TestBody()",
                          PlaceOf("features.cpp", "beside a death test")}}));
}

TEST_P(DeathTestsTest, ChildThatExitsIsNotCharged) { ExpectEach("ExitsInTheChild", Pass()); }

TEST_P(DeathTestsTest, RunPassesWhenOnlyChildrenLeak) {
  const GatedRun& run = RunTests("features", "Styles/Death.LeaksInTheChild/*");

  EXPECT_EQ(run.report["verdict"], "pass") << run.report["reasons"];
  EXPECT_EQ(run.command.exit_code, 0);
}

LEAKGATE_IN_BOTH_MODES(FeaturesTest);
LEAKGATE_IN_BOTH_MODES(DeathTestsTest);

}  // namespace
}  // namespace leakgate::test
