// What C++ allocates behind the scenes is charged to the user's own line, and
// what it frees behind the scenes is no leak.
#include <gmock/gmock.h>

#include "tests/integration/both_modes.h"

namespace leakgate::test {
namespace {

class LanguageTest : public BothModes {
 protected:
  static Outcome OutcomeIn(const std::string& test) {
    return OutcomeOfTest("language", "Language." + test);
  }
  static Leak InBody(const std::string& test, long bytes, const std::string& marker) {
    return {bytes, 1, "new", "Language_" + test + "_Test::TestBody()",
            PlaceOf("language.cpp", marker)};
  }
};

TEST_P(LanguageTest, SharedPointersInACycleAreOutstanding) {
  const std::string test = "SharedPointersInACycle";
  EXPECT_EQ(OutcomeIn(test), OverBudget({InBody(test, 32, "first of the cycle"),
                                         InBody(test, 32, "second of the cycle")}));
}

TEST_P(LanguageTest, SharedPointersInARowAreFreed) {
  EXPECT_EQ(OutcomeIn("SharedPointersInARow"), Pass());
}

TEST_P(LanguageTest, LostContainerIsOutstandingWithItsElements) {
  const std::string test = "VectorIsLost";
  EXPECT_EQ(OutcomeIn(test), OverBudget({InBody(test, 400, "vector"), InBody(test, 24, "vector")}));
}

TEST_P(LanguageTest, ContainersAreFreed) { EXPECT_EQ(OutcomeIn("ContainersAreFreed"), Pass()); }

TEST_P(LanguageTest, PolymorphicResourceNamesTheUsersLine) {
  const std::string test = "PolymorphicResourceLeaks";
  EXPECT_EQ(OutcomeIn(test), OverBudget({InBody(test, 120, "pmr")}));
}

TEST_P(LanguageTest, PolymorphicContainersAreFreed) {
  EXPECT_EQ(OutcomeIn("PolymorphicContainersAreFreed"), Pass());
}

TEST_P(LanguageTest, ExceptionsThroughFramesAreFreed) {
  EXPECT_EQ(OutcomeIn("ExceptionsThroughFramesAreFreed"), Pass());
}

// The runtime's header of 128 bytes, and the int.
TEST_P(LanguageTest, KeptExceptionNamesTheLineThatThrew) {
  EXPECT_EQ(OutcomeIn("ExceptionIsKept"),
            OverBudget({{132, 1, "malloc", "ThrowInt()", PlaceOf("language.cpp", "exception")}}));
}

TEST_P(LanguageTest, FailedNewAllocatesNothing) {
  EXPECT_EQ(OutcomeIn("FailedNewAllocatesNothing"), Pass());
}

TEST_P(LanguageTest, ObjectWhoseConstructorThrowsIsFreed) {
  EXPECT_EQ(OutcomeIn("ObjectWhoseConstructorThrowsIsFreed"), Pass());
}

TEST_P(LanguageTest, StaticMadeInTheTestIsOutstanding) {
  EXPECT_EQ(OutcomeIn("StaticIsMadeInTheTest"),
            OverBudget({{301, 1, "new", "Cached[abi:cxx11]()",
                         PlaceOf("language.cpp", "function-local static")}}));
}

LEAKGATE_IN_BOTH_MODES(LanguageTest);

}  // namespace
}  // namespace leakgate::test
