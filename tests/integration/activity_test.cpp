// Budgets for what tests do, whatever they leave: allocate, allocate for a moment only, or have at
// their peak; and who made it, found out by repeating the tests.
#include <gmock/gmock.h>

#include "tests/integration/both_modes.h"

namespace leakgate::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using Json = nlohmann::json;

class ActivityTest : public BothModes {
 protected:
  // Runs `filter` with `limits` for each test.
  GatedRun RunWithin(const std::string& limits, const std::string& filter = "*",
                     std::vector<std::string> options = {}) {
    options.insert(options.end(), {"--budgets", Budget(limits)});
    return RunTests("activity", filter, options);
  }
  std::string Budget(const std::string& limits) {
    return directory_.Write(
        "activity.leakgate.json",
        "{\"component\": \"activity\", \"limits\": {\n\"test\": " + limits + "}}");
  }
  // What made `test` exceed its limit of `quantity`.
  static Json MadeBy(const GatedRun& run, const std::string& test, const std::string& quantity) {
    const Json window = run.Test(test);
    if (!window.contains("made_by")) return {};
    for (const Json& made : window["made_by"]) {
      if (made["quantity"] == quantity) return made;
    }
    return {};
  }
  static std::string PlaceOfSite(const Json& site) {
    Json finding = site;
    finding["kind"] = "";
    return LeakFrom(finding).place;
  }
  static std::string FirstPlace(const Json& made) { return PlaceOfSite(made["sites"][0]); }
  // Without what is GoogleTest's own.
  static long OwnBlocks(const Json& made) {
    const long framework = made.contains("framework") ? made["framework"]["blocks"].get<long>() : 0;
    return made["blocks"].get<long>() - framework;
  }

  TemporaryDirectory directory_;
};

struct Temporary {
  const char* test;
  long blocks;
};

TEST_P(ActivityTest, TemporaryBlocksAreCountedToTheBlock) {
  const GatedRun run = RunWithin(R"({"temporary": {"blocks": 0}})");
  for (const auto& [name, blocks] :
       {Temporary{"AllocatesForAMoment", 1000}, Temporary{"FreesInTheOtherOrder", 500},
        Temporary{"GrowsByRealloc", 100}, Temporary{"FailsToRealloc", 1},
        Temporary{"HasMuchAtItsPeak", 3003}, Temporary{"NewsForAMoment", 700}}) {
    const std::string test = std::string("Activity.") + name;
    EXPECT_EQ(run.Test(test)["verdict"], "over_budget") << test;
    EXPECT_EQ(OwnBlocks(MadeBy(run, test, "temporary")), blocks) << test;
    // GoogleTest has some of its own in the test's window.
    const long counted = run.Test(test)["temporary"]["blocks"];
    EXPECT_GE(counted, blocks) << test;
    EXPECT_LE(counted, blocks + 2) << test;
  }
  for (const std::string name : {"FreesTheOlderFirst", "HasAnotherThreadFree", "DoesNothing"}) {
    EXPECT_EQ(run.Test("Activity." + name)["verdict"], "pass") << name;
  }
  EXPECT_EQ(run.command.exit_code, 1);
}

TEST_P(ActivityTest, TemporaryBlocksAtTheLimitPass) {
  EXPECT_EQ(RunWithin(R"({"temporary": {"blocks": 1000, "bytes": 100000}})",
                      "Activity.AllocatesForAMoment")
                .command.exit_code,
            0);
  EXPECT_EQ(RunWithin(R"({"temporary": {"blocks": 1000, "bytes": 99999}})",
                      "Activity.AllocatesForAMoment")
                .command.exit_code,
            1);
}

TEST_P(ActivityTest, WhoAllocatedIsToldWithTheUsersLineFirst) {
  const GatedRun run = RunWithin(R"({"temporary": {"blocks": 0}})", "Activity.AllocatesForAMoment");
  EXPECT_EQ(FirstPlace(MadeBy(run, "Activity.AllocatesForAMoment", "temporary")),
            PlaceOf("activity.cpp", "moment"));
  EXPECT_THAT(run.command.standard_error,
              AllOf(HasSubstr(PlaceOf("activity.cpp", "moment") + ": Failure in"),
                    HasSubstr("allocated for a moment only when the test was repeated alone: "),
                    HasSubstr("> UseForAMoment(int, unsigned long)")));
}

TEST_P(ActivityTest, SitesAreOrderedByWhatIsOverTheLimit) {
  const std::string test = "Activity.AllocatesByTwoFunctions";
  const GatedRun by_bytes = RunWithin(R"({"allocated": {"bytes": 0}})", test);
  EXPECT_EQ(FirstPlace(MadeBy(by_bytes, test, "allocated")), PlaceOf("activity.cpp", "tables"));
  const GatedRun by_blocks = RunWithin(R"({"allocated": {"blocks": 0}})", test);
  const Json made = MadeBy(by_blocks, test, "allocated");
  EXPECT_EQ(FirstPlace(made), PlaceOf("activity.cpp", "moment"));
  EXPECT_EQ(made["sites"][0]["blocks"], 2000);
  EXPECT_EQ(OwnBlocks(made), 2011);
}

TEST_P(ActivityTest, WhatWasLiveAtThePeakIsTold) {
  const std::string test = "Activity.HasMuchAtItsPeak";
  const GatedRun run = RunWithin(R"({"peak": {"bytes": "1 MiB"}})", test);
  const Json made = MadeBy(run, test, "peak");
  EXPECT_EQ(FirstPlace(made), PlaceOf("activity.cpp", "tables"));
  EXPECT_EQ(made["sites"][0]["blocks"], 64);
  EXPECT_EQ(made["sites"][0]["bytes"], 64 * 65536);
}

TEST_P(ActivityTest, OneLineOfSeveralTestsIsOneCause) {
  const GatedRun run = RunWithin(R"({"temporary": {"blocks": 150}})",
                                 "Activity.AllocatesForAMoment:Activity.AllocatesByTwoFunctions");
  EXPECT_THAT(run.command.standard_error,
              AllOf(HasSubstr("Failure in 2 tests: Activity.AllocatesForAMoment, "
                              "Activity.AllocatesByTwoFunctions"),
                    HasSubstr("most of it in Activity.AllocatesByTwoFunctions")));
}

// What a test does only after another one is not excused by doing nothing alone.
TEST_P(ActivityTest, WhatIsNotDoneAloneStaysOverBudget) {
  const GatedRun run = RunWithin(R"({"temporary": {"blocks": 10}})");
  EXPECT_EQ(run.Test("Activity.DependsOnTheTestBefore")["verdict"], "over_budget");
  const Json ended = MadeBy(run, "Activity.EndsWhenItIsRepeated", "temporary");
  EXPECT_EQ(run.Test("Activity.EndsWhenItIsRepeated")["verdict"], "over_budget");
  EXPECT_THAT(ended["sites"], IsEmpty());
}

TEST_P(ActivityTest, WithoutRepetitionTheCountAloneDecides) {
  const std::string test = "Activity.AllocatesForAMoment";
  const GatedRun run = RunWithin(R"({"temporary": {"blocks": 10}})", test, {"--confirm=off"});
  EXPECT_EQ(run.Test(test)["verdict"], "over_budget");
  EXPECT_EQ(MadeBy(run, test, "temporary")["problem"], "confirmation is off");
  EXPECT_THAT(run.command.standard_error,
              HasSubstr("who allocated it is not known: confirmation is off"));
}

TEST_P(ActivityTest, NothingIsCountedOrRepeatedUnlessABudgetAsks) {
  const GatedRun run = RunWithin(R"({"allocated": {"blocks": 100000}})");
  EXPECT_FALSE(run.Test("Activity.AllocatesForAMoment").contains("temporary"));
  EXPECT_FALSE(run.Test("Activity.AllocatesForAMoment").contains("made_by"));
  EXPECT_EQ(run.command.exit_code, 0);
}

TEST_P(ActivityTest, InlineConfirmationTellsGoogleTest) {
  // It leaves a block behind, so the process asks for its verdict.
  const std::string test = "Activity.FreesTheOlderFirst";
  const GatedRun run = RunWithin(R"({"allocated": {"blocks": 100}})", test, {"--confirm=inline"});
  const std::string& text = IsListener() ? run.command.standard_output : run.command.standard_error;
  EXPECT_THAT(text, HasSubstr("allocated when the test was repeated alone: "));
  if (IsListener()) {
    EXPECT_THAT(run.command.standard_output, HasSubstr("[  FAILED  ] " + test));
  }
}

LEAKGATE_IN_BOTH_MODES(ActivityTest);

}  // namespace
}  // namespace leakgate::test
