// Blocks of threads: the window that they are charged to, where the thread comes from, and the
// exact sum of what many leave at once.
#include <gmock/gmock.h>

#include <regex>

#include "tests/integration/both_modes.h"
#include "tests/integration/findings.h"

namespace leakgate::test {
namespace {

using testing::Contains;
using testing::Each;
using testing::HasSubstr;

// Blocks are charged to the window in which they were allocated, whichever
// thread allocates or frees them.

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

// Tests beside threads that go on holding what they have allocated, and one that is about to free.

class BusyThreadsTest : public BothModes {};

TEST_P(BusyThreadsTest, PassesWhatThreadsHoldUntilTheyEnd) {
  const GatedRun run = RunByDefault({Fixture("busy_threads")});

  EXPECT_EQ(run.command.exit_code, 0);
  for (const std::string suite : {"NeverStops", "Sleeps", "Waits"}) {
    for (const int test : {0, 20, 39}) {
      const std::string name = "Beside/" + suite + ".LeavesNothing/" + std::to_string(test);
      EXPECT_EQ(run.Test(name)["verdict"], "pass") << name;
    }
  }
}

TEST_P(BusyThreadsTest, WaitsForAThreadThatIsAboutToFree) {
  EXPECT_EQ(RunTests("busy_threads", "AboutToFree.*").Test("AboutToFree.IsWaitedFor")["verdict"],
            "pass");
}

LEAKGATE_IN_BOTH_MODES(BusyThreadsTest);

// Threads that reallocate the arrays which alone hold their blocks, while it is asked what is lost.

class ReallocatingTest : public BothModes {};

TEST_P(ReallocatingTest, TellsWhatIsLostFromWhatIsBeingReallocated) {
  const GatedRun run = RunByDefault({Fixture("reallocating")});

  for (int test = 0; test < 10; ++test) {
    const std::string name = "Beside/Reallocating.LosesNothing/" + std::to_string(test);
    EXPECT_EQ(run.Test(name)["verdict"], "pass") << name;
  }
  EXPECT_EQ(run.Test("Losing.LosesOne")["verdict"], "over_budget");
  EXPECT_EQ(run.Test("Losing.LosesOne")["lost"]["bytes"], 402);
}

LEAKGATE_IN_BOTH_MODES(ReallocatingTest);

// Handlers that allocate on a stack with no room for more.

class SmallStackTest : public BothModes {};

TEST_P(SmallStackTest, RunsHandlersThatAllocateAndTellsWhatTheyLeave) {
  for (const std::string test : {"SmallStack.FreesItAll", "SmallStack.FreesItAllInAThread"}) {
    EXPECT_EQ(OutcomeOfTest("signal_stack", test), Pass()) << test;
  }
  EXPECT_EQ(OutcomeOfTest("signal_stack", "SmallStack.Leaks"),
            OverBudget({{602, 1, "malloc", "(anonymous namespace)::Leak(int)",
                         PlaceOf("signal_stack.cpp", "in a handler")}}));
}

// A signal stack holds what the code there holds that runs or is suspended, and else nothing.
TEST_P(SmallStackTest, HoldsOnlyWhatCodeThereHolds) {
  const GatedRun run =
      RunByDefault({Fixture("signal_stack"), "--gtest_filter=LargeStack.*:UsedStack.*:Suspended*"});
  const auto lost = [&](const std::string& test) { return run.Test(test)["lost"]["bytes"]; };
  EXPECT_EQ(lost("LargeStack.HoldsNothingWhereNoHandlerRuns"), 603) << run.report;
  EXPECT_EQ(lost("LargeStack.HoldsNothingWhereNoHandlerRunsAndNoBlockIs"), 604);
  for (const std::string test :
       {"UsedStack.HoldsWhatItsHandlerHolds", "SuspendedContext.HoldsItsBlocks",
        "SuspendedHandler.HoldsItsBlocks"}) {
    EXPECT_EQ(lost(test), 0) << test;
  }
}

LEAKGATE_IN_BOTH_MODES(SmallStackTest);

// Whose thread left a block, and where that thread comes from.

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
  const GatedRun run =
      RunByDefault({Fixture("thread_origins"),
                    "--gtest_filter=*AllocatesNothing*:*ThreadThatExits*:*ThreadThatCannotBeMade"});
  for (const std::string test :
       {"Origins.ThreadThatAllocatesNothingIsAsItWould", "Origins.ThreadThatExitsInTheMiddle",
        "Origins.ThreadThatCannotBeMade"}) {
    EXPECT_EQ(run.Test(test)["test_result"], "passed") << test;
    EXPECT_EQ(run.Test(test)["verdict"], "pass") << test;  // the loader may keep what it loaded
  }
}

LEAKGATE_IN_BOTH_MODES(ThreadOriginsTest);

// A real process against a model of its own: what threads leave after some hundred
// thousand allocations of every kind is told to the byte.

class StressTest : public BothModes {};

TEST_P(StressTest, TellsWhatThreadsLeaveToTheByte) {
  const GatedRun run = RunTests("stress", "Stress.*");
  std::smatch left;
  ASSERT_TRUE(std::regex_search(run.command.standard_output, left,
                                std::regex("left: ([0-9]+) bytes in ([0-9]+) blocks")));
  const nlohmann::json leaving = run.Test("Stress.LeavesWhatItSays");
  EXPECT_EQ(leaving["outstanding"]["bytes"], std::stol(left[1]));
  EXPECT_EQ(leaving["outstanding"]["blocks"], std::stol(left[2]));
  EXPECT_GT(std::stol(left[2]), 100);

  const nlohmann::json freeing = run.Test("Stress.FreesItAll");
  EXPECT_EQ(freeing["verdict"], "pass");
  EXPECT_EQ(freeing["growth"]["bytes"], -std::stol(left[1]));
  EXPECT_EQ(freeing["growth"]["blocks"], -std::stol(left[2]));
  EXPECT_TRUE(run.report["tracing"]["drops"].empty());
}

LEAKGATE_IN_BOTH_MODES(StressTest);

}  // namespace
}  // namespace leakgate::test
