// Every way to allocate is seen, with its exact size, kind and line: with the
// C library's allocator and with tcmalloc as a shared library.
#include <gmock/gmock.h>

#include "tests/integration/both_modes.h"

namespace leakgate::test {
namespace {

class KindsTest : public BothModes {
 protected:
  static Outcome OutcomeIn(const std::string& test) {
    return OutcomeOfTest("kinds", "Kinds." + test);
  }
  // A leak in the test's own body.
  static Outcome OneLeak(const std::string& test, long bytes, const std::string& kind,
                         const std::string& marker) {
    return OverBudget(
        {{bytes, 1, kind, "Kinds_" + test + "_Test::TestBody()", PlaceOf("kinds.cpp", marker)}});
  }
};

TEST_P(KindsTest, SeesMalloc) {
  EXPECT_EQ(OutcomeIn("Malloc"), OneLeak("Malloc", 100, "malloc", "malloc"));
}

TEST_P(KindsTest, SeesCalloc) {
  EXPECT_EQ(OutcomeIn("Calloc"), OneLeak("Calloc", 105, "calloc", "calloc"));
}

TEST_P(KindsTest, ChargesAGrownBlockToRealloc) {
  EXPECT_EQ(OutcomeIn("ReallocGrows"), OneLeak("ReallocGrows", 200, "realloc", "realloc grows"));
}

TEST_P(KindsTest, ChargesAShrunkBlockAtItsNewSize) {
  EXPECT_EQ(OutcomeIn("ReallocShrinks"),
            OneLeak("ReallocShrinks", 20, "realloc", "realloc shrinks"));
}

TEST_P(KindsTest, SeesReallocOfNothing) {
  EXPECT_EQ(OutcomeIn("ReallocOfNothing"),
            OneLeak("ReallocOfNothing", 70, "realloc", "realloc of nothing"));
}

TEST_P(KindsTest, KeepsTheBlockThatCouldNotGrow) {
  EXPECT_EQ(OutcomeIn("ReallocFails"), OneLeak("ReallocFails", 60, "malloc", "realloc fails"));
}

TEST_P(KindsTest, PassesReallocToNothing) { EXPECT_EQ(OutcomeIn("ReallocToNothingFrees"), Pass()); }

TEST_P(KindsTest, SeesReallocarray) {
  EXPECT_EQ(OutcomeIn("Reallocarray"), OneLeak("Reallocarray", 77, "realloc", "reallocarray"));
}

TEST_P(KindsTest, SeesAlignedAlloc) {
  EXPECT_EQ(OutcomeIn("AlignedAlloc"), OneLeak("AlignedAlloc", 128, "memalign", "aligned_alloc"));
}

TEST_P(KindsTest, SeesPosixMemalign) {
  EXPECT_EQ(OutcomeIn("PosixMemalign"),
            OneLeak("PosixMemalign", 130, "memalign", "posix_memalign"));
}

TEST_P(KindsTest, SeesMemalign) {
  EXPECT_EQ(OutcomeIn("Memalign"), OneLeak("Memalign", 140, "memalign", "memalign"));
}

TEST_P(KindsTest, SeesValloc) {
  EXPECT_EQ(OutcomeIn("Valloc"), OneLeak("Valloc", 150, "memalign", "valloc"));
}

TEST_P(KindsTest, SeesNew) { EXPECT_EQ(OutcomeIn("New"), OneLeak("New", 48, "new", "new")); }

TEST_P(KindsTest, SeesNewArray) {
  EXPECT_EQ(OutcomeIn("NewArray"), OneLeak("NewArray", 33, "new[]", "new[]"));
}

TEST_P(KindsTest, CountsTheCookieOfAnArray) {
  EXPECT_EQ(OutcomeIn("NewArrayOfDestroyed"),
            OneLeak("NewArrayOfDestroyed", 38, "new[]", "new[] of destroyed"));
}

TEST_P(KindsTest, SeesNothrowNew) {
  EXPECT_EQ(OutcomeIn("NothrowNew"), OneLeak("NothrowNew", 48, "new", "nothrow new"));
}

TEST_P(KindsTest, SeesAlignedNew) {
  EXPECT_EQ(OutcomeIn("AlignedNew"), OneLeak("AlignedNew", 192, "new", "aligned new"));
}

TEST_P(KindsTest, SeesAlignedNewArray) {
  EXPECT_EQ(OutcomeIn("AlignedNewArray"),
            OneLeak("AlignedNewArray", 384, "new[]", "aligned new[]"));
}

TEST_P(KindsTest, NamesTheCallerOfStrdup) {
  EXPECT_EQ(OutcomeIn("Strdup"), OneLeak("Strdup", 13, "malloc", "strdup"));
}

TEST_P(KindsTest, PassesWhatIsFreedByAnyFormOfFree) {
  EXPECT_EQ(OutcomeIn("FreesAllThatItAllocates"), Pass());
}

TEST_P(KindsTest, PassesPlacementNew) {
  EXPECT_EQ(OutcomeIn("PlacementNewAllocatesNothing"), Pass());
}

TEST_P(KindsTest, NamesTheCallerOfAsprintf) {
  EXPECT_EQ(OutcomeIn("Asprintf"), OneLeak("Asprintf", 8, "malloc", "asprintf"));
}

INSTANTIATE_TEST_SUITE_P(Allocators, KindsTest,
                         testing::Values("untouched", "listener", "tcmalloc_untouched",
                                         "tcmalloc_minimal_listener"),
                         [](const testing::TestParamInfo<std::string>& mode) {
                           return mode.param;
                         });

}  // namespace
}  // namespace leakgate::test
