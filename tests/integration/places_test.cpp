// Each place where GoogleTest runs the user's code is charged to the innermost
// window that it lies in.
#include <gmock/gmock.h>

#include "tests/integration/both_modes.h"

namespace leakgate::test {
namespace {

class PlacesTest : public BothModes {
 protected:
  static Leak Malloc(long bytes, const std::string& function, const std::string& marker) {
    return {bytes, 1, "malloc", function, PlaceOf("places.cpp", marker)};
  }
  static void ExpectPass(const std::string& test) {
    EXPECT_EQ(OutcomeOfTest("places", test), Pass());
  }
};

TEST_P(PlacesTest, WhatATestsObjectDoesBelongsToTheTest) {
  const std::vector<std::pair<std::string, Leak>> leaks = {
      {"InConstructor", Malloc(101, "InConstructor::InConstructor()", "constructor")},
      {"InDestructor", Malloc(102, "InDestructor::~InDestructor()", "destructor")},
      {"InSetUp", Malloc(103, "InSetUp::SetUp()", "SetUp")},
      {"InTearDown", Malloc(104, "InTearDown::TearDown()", "TearDown")},
  };
  for (const auto& [suite, leak] : leaks) {
    EXPECT_EQ(OutcomeOfTest("places", suite + ".Leaks"), OverBudget({leak}));
  }
}

// No budget limits it, but its first block is lost, and later the second one, which the next block
// of the kind takes the place of.
TEST_P(PlacesTest, SuiteSetUpAndTearDownBelongToTheSuite) {
  EXPECT_EQ(OutcomeOf(RunTests("places").Window("suite", "InSuite")),
            OverBudget({Malloc(106, "InSuite::TearDownTestSuite()", "TearDownTestSuite"),
                        Malloc(105, "InSuite::SetUpTestSuite()", "SetUpTestSuite")}));
}

TEST_P(PlacesTest, SuiteSetUpIsNoTestsLeak) { ExpectPass("InSuite.LeaksNothing"); }

TEST_P(PlacesTest, WhatTheSuiteFreesIsNotOutstanding) {
  EXPECT_EQ(OutcomeOf(RunTests("places").Window("suite", "SharedBySuite")), Reported({}));
}

TEST_P(PlacesTest, WhatTearDownFreesIsNotOutstanding) {
  ExpectPass("AllocatedInSetUp.FreesItInTearDown");
}

// No budget file limits it, but its first two blocks are lost. The two blocks that
// tests free are still there where those tests do not run.
TEST_P(PlacesTest, StaticInitialisersAndEnvironmentsBelongToTheProgram) {
  EXPECT_EQ(OutcomeOf(RunTests("places", "Earlier.*").Window("program", "places_" + GetParam())),
            OverBudget({Malloc(1002, "LeakyEnvironment::SetUp()", "environment SetUp"),
                        Malloc(1003, "LeakyEnvironment::TearDown()", "environment TearDown"),
                        Malloc(1001, "__static_initialization_and_destruction_0(int, int)",
                               "static initialiser")}));
}

TEST_P(PlacesTest, TestFailsForABlockThatALaterTestFrees) {
  EXPECT_EQ(OutcomeOfTest("places", "Later.FirstTestAllocates"),
            OverBudget({Malloc(107, "Later_FirstTestAllocates_Test::TestBody()",
                               "freed by a later test")}));
}

TEST_P(PlacesTest, TestThatFreesAnEarlierTestsBlockPasses) { ExpectPass("Later.SecondTestFrees"); }

TEST_P(PlacesTest, TestThatFreesAStaticsBlockPasses) { ExpectPass("Earlier.IsFreedInTheTest"); }

TEST_P(PlacesTest, EarlierBlockIsTheTestsOnceItIsReallocatedThere) {
  EXPECT_EQ(OutcomeOfTest("places", "Earlier.IsReallocatedInTheTest"),
            OverBudget({{109, 1, "realloc", "Earlier_IsReallocatedInTheTest_Test::TestBody()",
                         PlaceOf("places.cpp", "realloc of an earlier block")}}));
}

LEAKGATE_IN_BOTH_MODES(PlacesTest);

}  // namespace
}  // namespace leakgate::test
