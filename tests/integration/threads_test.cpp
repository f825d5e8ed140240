// Blocks are charged to the window in which they were allocated, whichever
// thread allocates or frees them.
#include <gmock/gmock.h>

#include "tests/integration/both_modes.h"

namespace leakgate::test {
namespace {

class ThreadsTest : public BothModes {
 protected:
  static Leak Malloc(long bytes, long blocks, const std::string& function,
                     const std::string& marker) {
    return {bytes, blocks, "malloc", function, PlaceOf("threads.cpp", marker)};
  }
  static Leak OldThreadLeak(long blocks) {
    return Malloc(207 * blocks, blocks, "OldThread::Serve()", "old thread");
  }
};

TEST_P(ThreadsTest, JoinedThreadsLeakIsTheTests) {
  EXPECT_EQ(OutcomeOfTest("threads", "Threads.JoinedThreadLeaks"),
            OverBudget({Malloc(201, 1, "LeakInJoinedThread()", "joined thread")}));
}

TEST_P(ThreadsTest, DetachedThreadsLeakIsTheTests) {
  EXPECT_EQ(OutcomeOfTest("threads", "Threads.DetachedThreadLeaks"),
            OverBudget({Malloc(202, 1, "LeakInDetachedThread(void*)", "detached thread")}));
}

TEST_P(ThreadsTest, CountsEveryBlockOfThreadsThatLeakAtOnce) {
  EXPECT_EQ(OutcomeOfTest("threads", "Threads.EightThreadsLeak"),
            OverBudget({Malloc(8 * 16000, 8000, "LeakManyTimes()", "eight threads")}));
}

TEST_P(ThreadsTest, PassesWhatIsFreedByWhicheverThread) {
  for (const std::string test :
       {"Threads.AnotherThreadFrees", "Threads.TestFreesWhatAThreadAllocated",
        "Threads.EightThreadsFreeAll", "Threads.HundredThreadsInARowFreeAll",
        "ThreadLocals.AreFreedWithTheirThread"}) {
    EXPECT_EQ(OutcomeOfTest("threads", test), Pass()) << test;
  }
}

TEST_P(ThreadsTest, ThreadLocalOfTheMainThreadIsOutstanding) {
  EXPECT_EQ(
      OutcomeOfTest("threads", "ThreadLocals.OutliveTheTestOnTheMainThread"),
      OverBudget({{207, 1, "new", "ThreadLocals_OutliveTheTestOnTheMainThread_Test::TestBody()",
                   PlaceOf("threads.cpp", "thread_local")}}));
}

TEST_P(ThreadsTest, OlderThreadIsChargedToTheTestThatRuns) {
  EXPECT_EQ(OutcomeOfTest("threads", "OldThread.LeaksOnce"), OverBudget({OldThreadLeak(1)}));
  EXPECT_EQ(OutcomeOfTest("threads", "OldThread.LeaksNothing"), Pass());
  EXPECT_EQ(OutcomeOfTest("threads", "OldThread.LeaksTwice"), OverBudget({OldThreadLeak(2)}));
}

LEAKGATE_IN_BOTH_MODES(ThreadsTest);

}  // namespace
}  // namespace leakgate::test
