// Sizes and counts are exact from nothing to 1 GiB and a million blocks.
#include <gmock/gmock.h>

#include "tests/integration/both_modes.h"

namespace leakgate::test {
namespace {

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

}  // namespace
}  // namespace leakgate::test
