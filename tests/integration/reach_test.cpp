// Lost or retained, and by whom, as the report tells it.
#include <gmock/gmock.h>

#include "tests/integration/both_modes.h"
#include "tests/integration/findings.h"

namespace leakgate::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class ReachTest : public BothModes {
 protected:
  static const GatedRun& Run(const std::string& test) {
    return SharedRunByDefault({Fixture("policy"), "--gtest_filter=Reach." + test});
  }
  static std::string HolderIn(const std::string& test) {
    const std::vector<nlohmann::json> findings = UsersFindings(Run("Keeps*").Test("Reach." + test));
    for (const nlohmann::json& finding : findings) {
      if (finding["bytes"] == 100) return finding.value("holder", "none");
    }
    return "no finding";
  }
};

TEST_P(ReachTest, LostBlocksFailTheTestAtOnce) {
  const GatedRun& run = Run("LosesAChain");

  EXPECT_EQ(run.Test("Reach.LosesAChain")["verdict"], "over_budget");
  EXPECT_EQ(run.report["program"]["exit_code"], IsListener() ? 1 : 0);
  EXPECT_EQ(run.command.exit_code, 1);
}

TEST_P(ReachTest, WhatALostBlockLedToIsLostWithIt) {
  const nlohmann::json window = Run("LosesAChain").Test("Reach.LosesAChain");
  std::map<std::string, std::string> reaches;
  for (const nlohmann::json& finding : UsersFindings(window)) {
    reaches[LeakFrom(finding).place] = finding["reach"];
    for (const nlohmann::json& led : finding["led_to"]) {
      reaches[LeakFrom(led).place] = led["reach"];
    }
  }
  EXPECT_EQ(window["lost"]["blocks"], 2);
  EXPECT_EQ(window["retained"]["blocks"], 0);
  EXPECT_EQ(reaches[PlaceOf("policy.cpp", "lost")], "lost");
  EXPECT_EQ(reaches[PlaceOf("policy.cpp", "indirectly lost")], "indirectly_lost");
}

TEST_P(ReachTest, NamesTheGlobalThatHolds) {
  EXPECT_THAT(HolderIn("KeepsInAGlobal"), HasSubstr("g_global"));
  EXPECT_THAT(HolderIn("KeepsInAGlobal"), HasSubstr("policy.cpp"));
}

TEST_P(ReachTest, NamesTheStaticLocalThatHolds) {
  EXPECT_THAT(HolderIn("KeepsInAStaticLocal"), HasSubstr("kept_here"));
}

TEST_P(ReachTest, NamesTheThreadLocalThatHolds) {
  EXPECT_THAT(HolderIn("KeepsInAThreadLocal"), HasSubstr("thread-local"));
}

TEST_P(ReachTest, NamesTheStackThatHolds) {
  EXPECT_THAT(HolderIn("KeepsOnAStack"), HasSubstr("stack"));
}

TEST_P(ReachTest, SaysWhatCouldNotBeToldUnderADebuggerAndGoesOn) {
  const GatedRun& run = Run("IsDebuggedAlready");
  const nlohmann::json window = run.Test("Reach.IsDebuggedAlready");

  EXPECT_EQ(window["test_result"], "passed");
  EXPECT_THAT(window.value("reach_problem", ""), Not(IsEmpty()));
  EXPECT_EQ(window["verdict"], "over_budget");  // it grows with each repetition
  EXPECT_THAT(run.command.standard_error, HasSubstr("what is lost could not be told"));
}

LEAKGATE_IN_BOTH_MODES(ReachTest);

}  // namespace
}  // namespace leakgate::test
