// Child processes that budget files name, end to end.
#include <gmock/gmock.h>

#include "tests/integration/both_modes.h"
#include "tests/integration/findings.h"

namespace leakgate::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string BudgetNaming(const std::string& names, const std::string& more) {
  return "{\"component\": \"a\",\n\"processes\": [" + names + "]" + more + "}\n";
}

class ProcessesTest : public BothModes {
 protected:
  GatedRun RunNaming(const std::string& names, const std::vector<std::string>& arguments,
                     const std::string& more = "") {
    const std::string budget = directory_.Write("a.leakgate.json", BudgetNaming(names, more));
    std::vector<std::string> command = {Fixture("processes")};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return RunByDefault(command, {"--budgets", budget});
  }
  GatedRun RunTest(const std::string& test, const std::string& more) {
    return RunNaming(kHelper, {"--gtest_filter=" + test}, more);
  }
  // Under a budget that says no more than the name.
  static const GatedRun& RunTest(const std::string& test) {
    static const TemporaryDirectory directory;
    static const std::string budget = directory.Write("a.leakgate.json", BudgetNaming(kHelper, ""));
    return SharedRunByDefault({Fixture("processes"), "--gtest_filter=" + test},
                              {"--budgets", budget});
  }

  // By the kind `process`, in the report's order.
  static std::vector<nlohmann::json> ProcessesOf(const GatedRun& run) {
    std::vector<nlohmann::json> windows;
    for (const nlohmann::json& window : run.report["windows"]) {
      if (window["kind"] == "process") windows.push_back(window);
    }
    return windows;
  }
  static std::string ReasonsOf(const GatedRun& run) { return run.report["reasons"].dump(); }

  // The one process that `test` has started.
  static nlohmann::json ProcessOf(const GatedRun& run, const std::string& test) {
    std::vector<nlohmann::json> processes = ProcessesOf(run);
    std::erase_if(processes, [&](const auto& process) { return process["started_by"] != test; });
    EXPECT_EQ(processes.size(), 1U) << test;
    return processes.empty() ? nlohmann::json() : processes.front();
  }
  // In one run of all tests whose process comes to its own end.
  static nlohmann::json ProcessOf(const std::string& test) {
    return ProcessOf(RunTest("Child.Loses*:Child.Is*:Child.Re*-*Killed:*Static:*NotThere"), test);
  }
  nlohmann::json ProcessOf(const std::string& test, const std::string& more) {
    return ProcessOf(RunTest(test, more), test);
  }

  static constexpr const char* kHelper = "\"process_help*\"";
  TemporaryDirectory directory_;
};

constexpr const char* kLimit100 = R"(, "limits": {"process": {"outstanding": {"bytes": 100}}})";
constexpr const char* kLimit99 = R"(, "limits": {"process": {"outstanding": {"bytes": 99}}})";

Outcome LosesInHelper() {
  return OverBudget({{100, 1, "malloc", "(anonymous namespace)::Lose()",
                      PlaceOf("processes/helper.cpp", "lost")}});
}

TEST_P(ProcessesTest, LostBlocksFailTheRun) {
  const GatedRun& run = RunTest("Child.Loses");

  EXPECT_EQ(run.command.exit_code, 1);
  EXPECT_EQ(OutcomeOf(run.Window("process", "process_helper")), LosesInHelper());
  EXPECT_EQ(run.Test("Child.Loses")["verdict"], "pass");
  EXPECT_THAT(run.command.standard_error, HasSubstr("Failure in process process_helper of "
                                                    "Child.Loses"));
  EXPECT_THAT(run.command.standard_error, HasSubstr("1 process over budget"));
}

TEST_P(ProcessesTest, NamesTheTestThatStartedIt) {
  EXPECT_EQ(ProcessOf("Child.Loses")["started_by"], "Child.Loses");
}

// The test's own checks see the child's exit code; here its output.
TEST_P(ProcessesTest, ChangesNeitherOutputNorExitCode) {
  const GatedRun& run = RunTest("Child.Loses");
  EXPECT_THAT(run.command.standard_output,
              AllOf(HasSubstr("helper loses\n"), HasSubstr("[  PASSED  ] 1 test.")));
}

TEST_P(ProcessesTest, CleanOneFailsNothing) {
  const GatedRun& run = RunTest("Child.IsClean");
  EXPECT_EQ(run.command.exit_code, 0) << run.command.standard_error;
  EXPECT_EQ(OutcomeOf(run.Window("process", "process_helper")), Reported({}));
}

TEST_P(ProcessesTest, TellsWhatIsLostHoweverItEndsInOrder) {
  EXPECT_EQ(OutcomeOf(ProcessOf("Child.LosesAndExits")), LosesInHelper());
  EXPECT_EQ(OutcomeOf(ProcessOf("Child.LosesAndExitsAtOnce")), LosesInHelper());
}

// Its child has no region, and returns from main as it would alone.
TEST_P(ProcessesTest, TellsWhatIsLostIfItForks) {
  EXPECT_EQ(OutcomeOf(ProcessOf("Child.LosesAndForks")), LosesInHelper());
  for (const std::string test : {"Child.IsClean", "Child.Retains"}) {
    EXPECT_EQ(ProcessOf(test + "AndForks")["verdict"], ProcessOf(test)["verdict"]) << test;
  }
}

TEST_P(ProcessesTest, TracesItHoweverItIsStarted) {
  for (const char* const test :
       {"Child.IsSpawned", "Child.IsStartedByAShell", "Child.IsStartedInDepth",
        "Child.IsFoundInPath", "Child.IsOfADescriptor"}) {
    EXPECT_EQ(OutcomeOf(ProcessOf(test)), LosesInHelper()) << test;
  }
}

TEST_P(ProcessesTest, RetainedBlocksAreNotGatedByThemselves) {
  const GatedRun& run = RunTest("Child.Retains");
  EXPECT_EQ(run.command.exit_code, 0);
  EXPECT_EQ(run.Window("process", "process_helper")["verdict"], "not_gated");
  EXPECT_EQ(run.Window("process", "process_helper")["outstanding"]["bytes"], 200);
}

TEST_P(ProcessesTest, WhatStaticDestructorsLetGoOfIsNotLost) {
  EXPECT_EQ(ProcessOf("Child.Registers")["lost"]["bytes"], 0);
  EXPECT_EQ(ProcessOf("Child.Registers")["verdict"], "not_gated");
}

TEST_P(ProcessesTest, IsHeldToItsLimits) {
  EXPECT_EQ(ProcessOf("Child.Retains", kLimit99)["verdict"], "over_budget");
  EXPECT_EQ(ProcessOf("Child.Retains", kLimit99)["violations"][0]["line"], 2);
  EXPECT_EQ(ProcessOf("Child.Loses", kLimit100)["verdict"], "pass");
}

TEST_P(ProcessesTest, KilledOneIsHeldToItsLimits) {
  EXPECT_EQ(ProcessOf("Child.LosesAndIsKilled", kLimit99)["verdict"], "over_budget");
  EXPECT_EQ(ProcessOf("Child.LosesAndIsKilled", kLimit100)["verdict"], "pass");
}

TEST_P(ProcessesTest, KilledOneIsInconclusiveWhereNothingTellsWhatItLost) {
  const GatedRun& run = RunTest("Child.LosesAndIsKilled");
  EXPECT_EQ(run.command.exit_code, 3);
  const nlohmann::json process = run.Window("process", "process_helper");
  EXPECT_EQ(process["verdict"], "inconclusive");
  EXPECT_THAT(process["reason"], HasSubstr("it was killed"));
}

TEST_P(ProcessesTest, KilledOneThatLeftNothingFailsNothing) {
  EXPECT_EQ(RunTest("Child.IsCleanAndIsKilled").command.exit_code, 0);
}

TEST_P(ProcessesTest, OneThatExecutesAnotherHasNoEndOfItsOwn) {
  const nlohmann::json process = ProcessOf("Child.LosesAndExecutes");
  EXPECT_EQ(process["verdict"], "not_gated");
  EXPECT_THAT(process["reason"], HasSubstr("it executed another program in its place"));
}

TEST_P(ProcessesTest, AllowancesPermitWhatItLoses) {
  const GatedRun run = RunTest("Child.Loses", R"(, "allowances": [{"stack": ["*::Lose"],
      "tests": ["Child.*"], "reason": "known"}])");
  EXPECT_EQ(run.command.exit_code, 0);
  EXPECT_EQ(run.Window("process", "process_helper")["allowed"]["bytes"], 100);
}

TEST_P(ProcessesTest, BelongsToTheTestThatRanWhenItWasStarted) {
  const std::vector<nlohmann::json> processes = ProcessesOf(RunTest("Order.*"));
  ASSERT_EQ(processes.size(), 1U);
  EXPECT_EQ(processes[0]["started_by"], "Order.Starts");
}

TEST_P(ProcessesTest, OneThatNoFileNamesIsNotTraced) {
  const GatedRun run = RunNaming("\"other*\"", {"--gtest_filter=Child.Loses"});
  EXPECT_EQ(run.command.exit_code, 0);
  EXPECT_THAT(ProcessesOf(run), IsEmpty());
}

TEST_P(ProcessesTest, OneThatWasNotSeenMakesTheRunInconclusiveAndIsNamed) {
  const GatedRun run = RunNaming("\"launch_static\",\n\"lunch_*\"", {});
  EXPECT_EQ(run.command.exit_code, 3);
  EXPECT_THAT(ReasonsOf(run), AllOf(HasSubstr("a.leakgate.json:3: no process \\\"lunch_*\\\" was "
                                              "started"),
                                    Not(HasSubstr("no process \\\"launch_static"))));
}

TEST_P(ProcessesTest, AFilteredRunMissesNone) {
  EXPECT_EQ(RunNaming("\"lunch_*\"", {"--gtest_filter=Child.IsClean"}).command.exit_code, 0);
}

TEST_P(ProcessesTest, OneWithoutTheAgentsEnvironmentIsInconclusive) {
  const GatedRun& run = RunTest("Child.HasNoEnvironment");
  EXPECT_EQ(run.command.exit_code, 3);
  EXPECT_THAT(ReasonsOf(run), AllOf(HasSubstr("the process process_helper of "
                                              "Child.HasNoEnvironment could not be judged"),
                                    HasSubstr("LD_PRELOAD")));
}

TEST_P(ProcessesTest, StaticOneIsInconclusive) {
  const GatedRun run = RunNaming("\"launch_static\"", {"--gtest_filter=Child.IsStatic"});
  EXPECT_EQ(run.command.exit_code, 3);
  EXPECT_THAT(ReasonsOf(run), HasSubstr("it is statically linked"));
}

TEST_P(ProcessesTest, OneThatCouldNotBeExecutedWasNotStarted) {
  const GatedRun& run = RunTest("Child.IsNotThere");
  EXPECT_EQ(run.command.exit_code, 0) << run.command.standard_error;
  EXPECT_THAT(ProcessesOf(run), IsEmpty());
}

TEST_P(ProcessesTest, OneThatOutlivesTheProgramIsInconclusive) {
  const GatedRun run = RunNaming("\"process_helper\"", {"--gtest_filter=*Survivor.*:Child.IsClean",
                                                        "--gtest_also_run_disabled_tests"});
  EXPECT_EQ(run.command.exit_code, 3);
  EXPECT_THAT(ReasonsOf(run), HasSubstr("it still ran when the program had ended"));
}

TEST_P(ProcessesTest, DeathTestsAreNotChildrenOfTheirOwnName) {
  const GatedRun run = RunNaming("\"*\"", {"--gtest_filter=OwnDeathTest.*"});
  EXPECT_EQ(run.command.exit_code, 0) << run.command.standard_error;
  EXPECT_THAT(ProcessesOf(run), IsEmpty());
}

TEST_P(ProcessesTest, ForksThatExecuteNothingAreNotProcessesOfAName) {
  const GatedRun run = RunNaming("\"*\"", {"--gtest_filter=Child.ForksWithoutExecuting"});
  EXPECT_EQ(run.command.exit_code, 0) << run.command.standard_error;
  EXPECT_THAT(ProcessesOf(run), IsEmpty());
}

TEST_P(ProcessesTest, ManyAreJudgedEach) {
  const GatedRun run = RunTest("Child.StartsMany", kLimit100);
  EXPECT_EQ(run.command.exit_code, 0) << run.command.standard_error;
  EXPECT_EQ(ProcessesOf(run).size(), 200U);
}

LEAKGATE_IN_BOTH_MODES(ProcessesTest);

}  // namespace
}  // namespace leakgate::test
