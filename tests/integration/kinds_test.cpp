// What is allocated, in whichever way, is told to the byte: every function that allocates, sizes
// and counts, what C++ allocates behind the scenes, and the amounts of each window.
#include <gmock/gmock.h>

#include "tests/integration/both_modes.h"

namespace leakgate::test {
namespace {

// Every way to allocate is seen, with its exact size, kind and line: with the
// C library's allocator, with tcmalloc as a shared library, and with allocators linked into the
// program.

class KindsTest : public BothModes {};

TEST_P(KindsTest, SeesEachWayToAllocateInTheTestsOwnBody) {
  struct Way {
    std::string test;
    long bytes;
    std::string kind;
    std::string marker;
  };
  const std::vector<Way> ways = {
      {"Malloc", 100, "malloc", "malloc"},
      {"Calloc", 105, "calloc", "calloc"},
      {"ReallocGrows", 200, "realloc", "realloc grows"},
      {"ReallocShrinks", 20, "realloc", "realloc shrinks"},
      {"ReallocOfNothing", 70, "realloc", "realloc of nothing"},
      {"ReallocFails", 60, "malloc", "realloc fails"},  // the block that could not grow
      {"Reallocarray", 77, "realloc", "reallocarray"},
      {"AlignedAlloc", 128, "memalign", "aligned_alloc"},
      {"PosixMemalign", 130, "memalign", "posix_memalign"},
      {"Memalign", 140, "memalign", "memalign"},
      {"Valloc", 150, "memalign", "valloc"},
      {"New", 48, "new", "new"},
      {"NewArray", 33, "new[]", "new[]"},
      {"NewArrayOfDestroyed", 38, "new[]", "new[] of destroyed"},  // with the array's cookie
      {"NothrowNew", 48, "new", "nothrow new"},
      {"AlignedNew", 192, "new", "aligned new"},
      {"AlignedNewArray", 384, "new[]", "aligned new[]"},
      {"Strdup", 13, "malloc", "strdup"},  // whose caller is named
      {"Asprintf", 8, "malloc", "asprintf"},
  };
  // tcmalloc's operators new and new[] are one function where it is linked in.
  const bool is_one = GetParam().starts_with("tcmalloc_inside");
  for (const Way& way : ways) {
    const std::string kind = is_one && way.kind == "new[]" ? "new" : way.kind;
    EXPECT_EQ(OutcomeOfTest("kinds", "Kinds." + way.test),
              OverBudget({{way.bytes, 1, kind, "Kinds_" + way.test + "_Test::TestBody()",
                           PlaceOf("kinds.cpp", way.marker)}}))
        << way.test;
  }
}

TEST_P(KindsTest, PassesWhatIsFreedByAnyFormOfFreeAndPlacementNew) {
  for (const std::string test :
       {"ReallocToNothingFrees", "FreesAllThatItAllocates", "PlacementNewAllocatesNothing"}) {
    EXPECT_EQ(OutcomeOfTest("kinds", "Kinds." + test), Pass()) << test;
  }
}

INSTANTIATE_TEST_SUITE_P(Allocators, KindsTest,
                         testing::Values("untouched", "listener", "tcmalloc_untouched",
                                         "tcmalloc_minimal_listener", "tcmalloc_inside_untouched",
                                         "tcmalloc_inside_listener", "jemalloc_inside_untouched"),
                         [](const testing::TestParamInfo<std::string>& mode) {
                           return mode.param;
                         });

// Sizes and counts are exact from nothing to 1 GiB and a million blocks.

constexpr long kGiB = 1L << 30;

class SizesTest : public BothModes {
 protected:
  static void ExpectLeaks(const std::string& test, std::vector<Leak> leaks) {
    for (Leak& leak : leaks) {
      leak.function = "Sizes_" + test + "_Test::TestBody()";
      leak.place = PlaceOf("sizes.cpp", leak.place);
    }
    EXPECT_EQ(OutcomeOfTest("sizes", "Sizes." + test), OverBudget(leaks));
  }
};

TEST_P(SizesTest, BlockOrArrayOfNoBytesIsABlock) {
  ExpectLeaks("ZeroByMalloc", {{0, 1, "malloc", "", "nothing by malloc"}});
  ExpectLeaks("ZeroByNew", {{0, 1, "new[]", "", "nothing by new[]"}});
}

TEST_P(SizesTest, CountsAGiBTouchedOrNot) {
  ExpectLeaks("OneGiBUntouched", {{kGiB, 1, "malloc", "", "untouched"}});
  ExpectLeaks("OneGiBTouched", {{kGiB, 1, "malloc", "", "touched"}});
}

TEST_P(SizesTest, PassesAGiBThatWasFreed) {
  EXPECT_EQ(OutcomeOfTest("sizes", "Sizes.OneGiBFreed"), Pass());
}

TEST_P(SizesTest, CountsAMillionBlocksOfThreeCallSites) {
  ExpectLeaks("AMillionBlocks", {{7200000, 300000, "malloc", "", "more"},
                                 {4000000, 500000, "malloc", "", "half a million"},
                                 {800000, 200000, "new", "", "yet more"}});
}

LEAKGATE_IN_BOTH_MODES(SizesTest);

// What C++ allocates behind the scenes is charged to the user's own line, and
// what it frees behind the scenes is no leak.

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

// The amounts of each window: outstanding, growth and allocated.

nlohmann::json Amount(long bytes, long blocks) { return {{"bytes", bytes}, {"blocks", blocks}}; }

class WindowsTest : public BothModes {
 protected:
  static const GatedRun& Run() { return RunTests("windows"); }
  static nlohmann::json Test(const std::string& name) { return Run().Test("Amounts." + name); }
};

TEST_P(WindowsTest, GrowthIsWhatATestAddsUp) {
  EXPECT_EQ(Test("AllocatesAndFrees")["growth"], Amount(200, 1));
}

TEST_P(WindowsTest, ReplacementIsOutstandingButNoGrowth) {
  const nlohmann::json window = Test("Replaces");

  EXPECT_EQ(window["outstanding"], Amount(1000, 1));
  EXPECT_EQ(window["growth"], Amount(0, 0));
}

TEST_P(WindowsTest, GrowthIsNegativeWhenAnEarlierBlockIsFreed) {
  const nlohmann::json window = Test("FreesAnEarlierBlock");

  EXPECT_EQ(window["outstanding"], Amount(0, 0));
  EXPECT_EQ(window["growth"], Amount(-1000, -1));
}

TEST_P(WindowsTest, EmptyTestHasNoGrowth) {
  EXPECT_EQ(Test("DoesNothing")["growth"], Amount(0, 0));
}

TEST_P(WindowsTest, SuiteIsChargedWithItsOwnBlocksOnly) {
  EXPECT_EQ(Run().Window("suite", "Amounts")["outstanding"], Amount(40, 1));
}

// 40 of its own, 200 of a test.
TEST_P(WindowsTest, SuitesGrowthHoldsThatOfItsTests) {
  EXPECT_EQ(Run().Window("suite", "Amounts")["growth"], Amount(240, 2));
}

TEST_P(WindowsTest, ProgramsGrowthHoldsThatOfItsSuites) {
  EXPECT_EQ(Run().Window("program", "windows_" + GetParam())["growth"], Amount(240, 2));
}

TEST_P(WindowsTest, TellsWhatTheProcessHadLiveAtBothEnds) {
  const nlohmann::json live = Test("FreesAnEarlierBlock")["live_bytes"];

  EXPECT_EQ(live["end"].get<long>() - live["begin"].get<long>(), -1000);
}

TEST_P(WindowsTest, TestsFollowEachOtherWithinTheSuitesTime) {
  const GatedRun& run = Run();
  const nlohmann::json suite = run.Window("suite", "Amounts");
  double before = suite["begin_seconds"];
  EXPECT_GT(before, run.Window("program", "windows_" + GetParam())["begin_seconds"]);
  for (const char* name : {"AllocatesAndFrees", "Replaces", "FreesAnEarlierBlock"}) {
    const nlohmann::json test = run.Test("Amounts." + std::string(name));
    EXPECT_GE(test["begin_seconds"], before) << name;
    EXPECT_GT(test["end_seconds"], test["begin_seconds"]) << name;
    before = test["end_seconds"];
  }
  EXPECT_GE(suite["end_seconds"], before);
  EXPECT_LE(suite["end_seconds"], run.report["wall_seconds"]);
}

LEAKGATE_IN_BOTH_MODES(WindowsTest);

// The stream's own strings come on top in the other mode.
TEST(ListenerWindowsTest, AllocatedCountsWhatWasFreedToo) {
  const GatedRun run = SharedGatedRun({FixturePath("windows_listener"), "--gtest_filter=*"});

  EXPECT_EQ(run.Test("Amounts.AllocatesAndFrees")["allocated"]["bytes"].get<long>() -
                run.Test("Amounts.DoesNothing")["allocated"]["bytes"].get<long>(),
            300);
}

}  // namespace
}  // namespace leakgate::test
