// What an allocator's own functions allocate and free, and what its library makes as it is loaded.
#include <gtest/gtest.h>

#include "tests/integration/both_modes.h"

namespace leakgate::test {
namespace {

class AllocatorCallsTest : public BothModes {
 protected:
  static Leak Left(long bytes, const std::string& kind, const std::string& test,
                   const std::string& place) {
    return {bytes, 1, kind, "Left_" + test + "_Test::TestBody()", place};
  }
};

// As a shared library, and linked into the program.
TEST_P(AllocatorCallsTest, TellsWhatJemallocsFunctionsLeave) {
  const auto place = [](const std::string& marker) {
    return PlaceOf("jemalloc_calls.cpp", marker);
  };
  for (const std::string fixture : {"jemalloc_calls", "jemalloc_calls_inside"}) {
    for (const std::string test :
         {"Freed.ByDallocx", "Freed.BySdallocx", "Freed.ByFree", "Freed.AfterRallocx",
          "Freed.AfterXallocx", "Symbols.OfOtherAllocatorsAreNotThere"}) {
      EXPECT_EQ(OutcomeOfTest(fixture, test), Pass()) << fixture << " " << test;
    }
    EXPECT_EQ(OutcomeOfTest(fixture, "Left.ByMallocx"),
              OverBudget({Left(511, "malloc", "ByMallocx", place("mallocx"))}));
    EXPECT_EQ(OutcomeOfTest(fixture, "Left.ByRallocx"),
              OverBudget({Left(5120, "realloc", "ByRallocx", place("rallocx"))}));
    EXPECT_EQ(OutcomeOfTest(fixture, "Left.ByXallocxThatFails"),
              OverBudget({Left(513, "malloc", "ByXallocxThatFails", place("before xallocx"))}));
  }
}

TEST_P(AllocatorCallsTest, TellsWhatTcmallocsFunctionsLeave) {
  for (const std::string fixture : {"tcmalloc_calls", "tcmalloc_calls_inside"}) {
    for (const std::string test : {"Freed.ByFreeSized", "Freed.ByDeleteSized", "Freed.ByFree",
                                   "Left.Nothing", "Symbols.OfOtherAllocatorsAreNotThere"}) {
      EXPECT_EQ(OutcomeOfTest(fixture, test), Pass()) << fixture << " " << test;
    }
    EXPECT_EQ(
        OutcomeOfTest(fixture, "Left.ByMalloc"),
        OverBudget({Left(511, "malloc", "ByMalloc", PlaceOf("tcmalloc_calls.cpp", "tc_malloc"))}));
  }
}

// The libraries make blocks of their own before main, which nobody frees.
TEST_P(AllocatorCallsTest, PassesAnEmptyTestWithAnAllocatorsLibrary) {
  for (const std::string fixture :
       {"tcmalloc_calls", "jemalloc_calls", "tcmalloc_calls_inside", "jemalloc_calls_inside"}) {
    const GatedRun run = RunByDefault(
        {Fixture(fixture), "--gtest_filter=Left.Nothing:Symbols.OfOtherAllocatorsAreNotThere"});
    EXPECT_EQ(run.command.exit_code, 0) << run.command.standard_output;
    for (const nlohmann::json& window : run.report["windows"]) {
      EXPECT_NE(window["verdict"], "over_budget") << fixture << " " << window["name"];
    }
  }
}

LEAKGATE_IN_BOTH_MODES(AllocatorCallsTest);

// The compiler knows the functions' code where it calls them.
TEST(OwnMallocTest, IsTracedInTheFileOfItsCallers) {
  for (const std::string fixture : {"own_malloc", "own_malloc_new"}) {
    const GatedRun run = RunByDefault({FixturePath(fixture)});
    EXPECT_EQ(run.command.exit_code, 1) << run.command.standard_output;
    const long header = fixture == "own_malloc" ? 0 : 16;
    const std::map<std::string, long> left = {
        {"Left.ByMalloc", 77}, {"Left.ByNew", 88 + header}, {"Left.ByAPointerToMalloc", 66}};
    for (const nlohmann::json& window : run.report["windows"]) {
      if (window["kind"] == "suite") continue;
      const auto found = left.find(window["name"]);
      EXPECT_EQ(window["verdict"], found == left.end() ? "pass" : "over_budget") << window["name"];
      if (found == left.end()) continue;
      EXPECT_EQ(window["violations"][0]["actual"], found->second) << window["name"];
    }
  }
}

// Frees that the compiler has put into the tests are not seen: no block is a leak that may have
// been freed there.
TEST(OwnMallocTest, IsInDoubtIfItsFunctionsAreInlined) {
  for (const std::string fixture : {"own_malloc_inlined", "own_malloc_inlined_new"}) {
    const GatedRun run = RunByDefault({FixturePath(fixture)});
    EXPECT_EQ(run.command.exit_code, 3) << run.command.standard_output;
    EXPECT_THAT(run.command.standard_error, testing::HasSubstr("missed_free"));
    EXPECT_THAT(run.command.standard_error, testing::HasSubstr("-fno-inline"));
    for (const nlohmann::json& window : run.report["windows"]) {
      if (window["kind"] == "test") EXPECT_EQ(window["verdict"], "inconclusive") << window["name"];
    }
  }
}

}  // namespace
}  // namespace leakgate::test
