// Whose thread left a block, and where that thread comes from.
#include <gmock/gmock.h>

#include "tests/integration/both_modes.h"
#include "tests/integration/findings.h"

namespace leakgate::test {
namespace {

using testing::Contains;
using testing::Each;
using testing::HasSubstr;

class ThreadOriginsTest : public BothModes {
 protected:
  static Outcome OutcomeIn(const std::string& test) {
    return OutcomeOfTest("thread_origins", "Origins." + test);
  }
};

TEST_P(ThreadOriginsTest, TestsOwnThreadIsNotWorthAWord) {
  const nlohmann::json window = RunTests("thread_origins").Test("Origins.ThreadThatLeaks");

  EXPECT_EQ(OutcomeOf(window).bytes, 701);
  EXPECT_THAT(TextsOf(window, "thread"), Each(""));
}

TEST_P(ThreadOriginsTest, ThreadOfAThreadIsTheTests) {
  EXPECT_EQ(OutcomeIn("ThreadOfAThread").bytes, 702);
}

TEST_P(ThreadOriginsTest, NamedThreadIsTheTests) {
  EXPECT_EQ(OutcomeIn("ThreadWithAName"),
            OverBudget({{703, 1, "malloc", "NameItself(void*)",
                         PlaceOf("thread_origins.cpp", "in a named worker")}}));
}

TEST_P(ThreadOriginsTest, TellsNameTestAndStarterOfAnOlderThread) {
  const GatedRun& run = RunTests("thread_origins");
  const nlohmann::json window = run.Test("Older.LeaksInTheNextTest");

  EXPECT_EQ(window["verdict"], "over_budget");
  EXPECT_THAT(TextsOf(window, "thread"),
              Contains(HasSubstr("thread 'named-server' of Older.IsStarted, started by ")));
  EXPECT_THAT(TextsOf(window, "thread"), Contains(HasSubstr("StartServer")));
  EXPECT_THAT(run.command.standard_output + run.command.standard_error, HasSubstr("named-server"));
}

TEST_P(ThreadOriginsTest, ThreadsThatAllocateNothingAreAsEver) {
  const GatedRun run = RunByDefault({Fixture("thread_origins")});
  for (const std::string test :
       {"Origins.ThreadThatAllocatesNothingIsAsItWould", "Origins.ThreadThatExitsInTheMiddle",
        "Origins.ThreadThatCannotBeMade"}) {
    EXPECT_EQ(run.Test(test)["test_result"], "passed") << test;
    EXPECT_EQ(run.Test(test)["verdict"], "pass") << test;  // the loader may keep what it loaded
  }
}

LEAKGATE_IN_BOTH_MODES(ThreadOriginsTest);

}  // namespace
}  // namespace leakgate::test
