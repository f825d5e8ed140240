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
  static Outcome Window(const std::string& kind, const std::string& name,
                        const std::string& filter) {
    return OutcomeOf(RunTests("places", filter).Window(kind, name));
  }
};

TEST_P(PlacesTest, ConstructorBelongsToTheTest) {
  EXPECT_EQ(OutcomeOfTest("places", "InConstructor.Leaks"),
            OverBudget({Malloc(101, "InConstructor::InConstructor()", "constructor")}));
}

TEST_P(PlacesTest, DestructorBelongsToTheTest) {
  EXPECT_EQ(OutcomeOfTest("places", "InDestructor.Leaks"),
            OverBudget({Malloc(102, "InDestructor::~InDestructor()", "destructor")}));
}

TEST_P(PlacesTest, SetUpBelongsToTheTest) {
  EXPECT_EQ(OutcomeOfTest("places", "InSetUp.Leaks"),
            OverBudget({Malloc(103, "InSetUp::SetUp()", "SetUp")}));
}

TEST_P(PlacesTest, TearDownBelongsToTheTest) {
  EXPECT_EQ(OutcomeOfTest("places", "InTearDown.Leaks"),
            OverBudget({Malloc(104, "InTearDown::TearDown()", "TearDown")}));
}

// No budget limits it, but its first block is lost.
TEST_P(PlacesTest, SuiteSetUpAndTearDownBelongToTheSuite) {
  EXPECT_EQ(Window("suite", "InSuite", "InSuite.*"),
            OverBudget({Malloc(105, "InSuite::SetUpTestSuite()", "SetUpTestSuite"),
                        Malloc(106, "InSuite::TearDownTestSuite()", "TearDownTestSuite")}));
}

TEST_P(PlacesTest, SuiteSetUpIsNoTestsLeak) {
  EXPECT_EQ(OutcomeOfTest("places", "InSuite.LeaksNothing"), Pass());
}

TEST_P(PlacesTest, WhatTheSuiteFreesIsNotOutstanding) {
  EXPECT_EQ(Window("suite", "SharedBySuite", "SharedBySuite.*"), Reported({}));
}

TEST_P(PlacesTest, WhatTearDownFreesIsNotOutstanding) {
  EXPECT_EQ(OutcomeOfTest("places", "AllocatedInSetUp.FreesItInTearDown"), Pass());
}

// No budget file limits it, but its first two blocks are lost. The two blocks that
// tests free are still there where those tests do not run.
TEST_P(PlacesTest, StaticInitialisersAndEnvironmentsBelongToTheProgram) {
  EXPECT_EQ(Window("program", "places_" + GetParam(), "Earlier.*"),
            OverBudget({Malloc(1002, "LeakyEnvironment::SetUp()", "environment SetUp"),
                        Malloc(1003, "LeakyEnvironment::TearDown()", "environment TearDown"),
                        Malloc(1001, "__static_initialization_and_destruction_0(int, int)",
                               "static initialiser")}));
}

TEST_P(PlacesTest, TestFailsForABlockThatALaterTestFrees) {
  EXPECT_EQ(OutcomeOf(RunTests("places", "Later.*").Test("Later.FirstTestAllocates")),
            OverBudget({Malloc(107, "Later_FirstTestAllocates_Test::TestBody()",
                               "freed by a later test")}));
}

TEST_P(PlacesTest, TestThatFreesAnEarlierTestsBlockPasses) {
  EXPECT_EQ(OutcomeOf(RunTests("places", "Later.*").Test("Later.SecondTestFrees")), Pass());
}

TEST_P(PlacesTest, TestThatFreesAStaticsBlockPasses) {
  EXPECT_EQ(OutcomeOfTest("places", "Earlier.IsFreedInTheTest"), Pass());
}

TEST_P(PlacesTest, EarlierBlockIsTheTestsOnceItIsReallocatedThere) {
  EXPECT_EQ(OutcomeOfTest("places", "Earlier.IsReallocatedInTheTest"),
            OverBudget({{109, 1, "realloc", "Earlier_IsReallocatedInTheTest_Test::TestBody()",
                         PlaceOf("places.cpp", "realloc of an earlier block")}}));
}

LEAKGATE_IN_BOTH_MODES(PlacesTest);

}  // namespace
}  // namespace leakgate::test
