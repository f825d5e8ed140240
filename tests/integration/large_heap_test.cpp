// Beside a large heap, not every test is looked at as it ends (judge/look_pace.h).
#include <gmock/gmock.h>

#include <set>
#include <string>

#include "tests/integration/both_modes.h"
#include "tests/integration/findings.h"

namespace leakgate::test {
namespace {

using testing::AnyOf;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::SizeIs;

std::string Loses(int number) { return "Heap/Beside.Loses/" + std::to_string(number); }

class LargeHeapTest : public BothModes {
 protected:
  // Beside 400,000 blocks.
  static const GatedRun& Run(const std::string& ends = "ABORT=0") {
    return SharedRunByDefault({FixturePath("large_heap_" + GetParam())}, {},
                              {"LIVE_BLOCKS=400000", ends});
  }
};

TEST_P(LargeHeapTest, FailsEachTestThatLosesABlock) {
  const GatedRun& run = Run();
  const Outcome lost =
      OverBudget({{4, 1, "new", "(anonymous namespace)::Beside_Loses_Test::TestBody()",
                   PlaceOf("large_heap.cpp", "lost")}});
  std::set<std::string> explanations;
  for (int i = 0; i < 100; ++i) {
    const nlohmann::json test = run.Test(Loses(i));
    EXPECT_EQ(OutcomeOf(test), lost) << test;
    explanations.insert(test["findings"][0].value("explanation", ""));
  }

  EXPECT_THAT(explanations, Contains(HasSubstr("lost by the end of the iteration")));
  EXPECT_EQ(run.command.exit_code, 1);
}

TEST_P(LargeHeapTest, PassesWhatIsKeptOrFreedLater) {
  const GatedRun& run = Run();

  EXPECT_EQ(run.Test("BesideHeap.KeepsOne")["verdict"], "pass");
  EXPECT_EQ(run.Test("BesideHeap.LeavesOneForTheNext")["verdict"], "pass");
}

TEST_P(LargeHeapTest, PassesNoTestThatWasToBeScannedLater) {
  const GatedRun& run = Run("ABORT=1");
  std::set<std::string> verdicts;
  std::set<std::string> reasons;
  for (int i = 0; i < 99; ++i) {
    const nlohmann::json test = run.Test(Loses(i));
    verdicts.insert(test["verdict"]);
    reasons.insert(test.value("reason", ""));
  }

  EXPECT_THAT(verdicts, Each(AnyOf("over_budget", "inconclusive")));
  EXPECT_THAT(reasons, Contains(HasSubstr("did not get that far")));
}

// Blocks that are alike are judged together, but where an allowance might take some of them.
TEST_P(LargeHeapTest, TellsWhatTheProgramKeepsAsBlockForBlock) {
  const TemporaryDirectory directory;
  const auto program_with = [&](const std::string& allowances) {
    const std::string file =
        directory.Write("a.leakgate.json",
                        R"({"component": "a", "limits": {"program": {"outstanding": {"bytes": 8}}},
 "allowances": [)" + allowances +
                            "]}\n");
    const GatedRun run = RunByDefault(
        {FixturePath("large_heap_" + GetParam()), "--gtest_filter=BesideHeap.KeepsOne"},
        {"--budgets", file, "--contents=none"},
        {.environment = {"LIVE_BLOCKS=140003", "KEEP=140000"}});
    nlohmann::json program = run.Window("program", "large_heap_" + GetParam());
    for (const char* const time : {"begin_seconds", "end_seconds"}) program.erase(time);
    return program;
  };
  const nlohmann::json alike = program_with("");

  EXPECT_EQ(alike, program_with(R"({"stack": ["nobody"], "reason": "none"})"));
  EXPECT_EQ(alike["verdict"], "over_budget");
  EXPECT_EQ(alike["lost"]["blocks"], 3);
  EXPECT_EQ(UsersFindings(alike).back()["blocks"], 140000);
}

TEST_P(LargeHeapTest, RepeatsLessWhatIsSetUpSlowly) {
  const GatedRun& run = SharedRunByDefault(
      {FixturePath("large_heap_" + GetParam()), "--gtest_filter=BesideHeap.KeepsOne",
       "--gtest_recreate_environments_when_repeating=1"},
      {"--verbose"}, {"SET_UP_MS=400"});
  const nlohmann::json test = run.Test("BesideHeap.KeepsOne");

  EXPECT_EQ(test["verdict"], "pass");
  EXPECT_THAT(test["findings"][0]["series"], SizeIs(5));  // by six repetitions
}

LEAKGATE_IN_BOTH_MODES(LargeHeapTest);

}  // namespace
}  // namespace leakgate::test
