// Every way to allocate is seen, with its exact size, kind and line: with the
// C library's allocator and with tcmalloc as a shared library.
#include <gmock/gmock.h>

#include "tests/integration/both_modes.h"

namespace leakgate::test {
namespace {

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
  for (const Way& way : ways) {
    EXPECT_EQ(OutcomeOfTest("kinds", "Kinds." + way.test),
              OverBudget({{way.bytes, 1, way.kind, "Kinds_" + way.test + "_Test::TestBody()",
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
                                         "tcmalloc_minimal_listener"),
                         [](const testing::TestParamInfo<std::string>& mode) {
                           return mode.param;
                         });

}  // namespace
}  // namespace leakgate::test
