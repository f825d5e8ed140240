// What C++ allocates behind the scenes is charged to the user's own line, and
// what it frees behind the scenes is no leak.
#include <gmock/gmock.h>

#include "tests/integration/both_modes.h"

namespace leakgate::test {
namespace {

class LanguageTest : public BothModes {
 protected:
  static void ExpectLeaks(const std::string& test, std::vector<Leak> leaks) {
    for (Leak& leak : leaks) {
      if (leak.function.empty()) leak.function = "Language_" + test + "_Test::TestBody()";
      leak.place = PlaceOf("language.cpp", leak.place);
    }
    EXPECT_EQ(OutcomeOfTest("language", "Language." + test), OverBudget(leaks));
  }
};

TEST_P(LanguageTest, SharedPointersInACycleAreOutstanding) {
  ExpectLeaks("SharedPointersInACycle", {{32, 1, "new", "", "first of the cycle"},
                                         {32, 1, "new", "", "second of the cycle"}});
}

TEST_P(LanguageTest, LostContainerIsOutstandingWithItsElements) {
  ExpectLeaks("VectorIsLost", {{400, 1, "new", "", "vector"}, {24, 1, "new", "", "vector"}});
}

TEST_P(LanguageTest, PolymorphicResourceNamesTheUsersLine) {
  ExpectLeaks("PolymorphicResourceLeaks", {{120, 1, "new", "", "pmr"}});
}

// The runtime's header of 128 bytes, and the int.
TEST_P(LanguageTest, KeptExceptionNamesTheLineThatThrew) {
  ExpectLeaks("ExceptionIsKept", {{132, 1, "malloc", "ThrowInt()", "exception"}});
}

TEST_P(LanguageTest, StaticMadeInTheTestIsOutstanding) {
  ExpectLeaks("StaticIsMadeInTheTest",
              {{301, 1, "new", "Cached[abi:cxx11]()", "function-local static"}});
}

TEST_P(LanguageTest, PassesWhatTheLanguageFrees) {
  for (const std::string test :
       {"SharedPointersInARow", "ContainersAreFreed", "PolymorphicContainersAreFreed",
        "ExceptionsThroughFramesAreFreed", "FailedNewAllocatesNothing",
        "ObjectWhoseConstructorThrowsIsFreed"}) {
    EXPECT_EQ(OutcomeOfTest("language", "Language." + test), Pass()) << test;
  }
}

LEAKGATE_IN_BOTH_MODES(LanguageTest);

}  // namespace
}  // namespace leakgate::test
