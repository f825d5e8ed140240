// Sizes and counts are exact from nothing to 1 GiB and a million blocks.
#include <gmock/gmock.h>

#include "tests/integration/both_modes.h"

namespace leakgate::test {
namespace {

constexpr long kGiB = 1L << 30;

class SizesTest : public BothModes {
 protected:
  static Outcome OutcomeIn(const std::string& test) {
    return OutcomeOfTest("sizes", "Sizes." + test);
  }
  static Leak InBody(const std::string& test, long bytes, long blocks, const std::string& kind,
                     const std::string& marker) {
    return {bytes, blocks, kind, "Sizes_" + test + "_Test::TestBody()",
            PlaceOf("sizes.cpp", marker)};
  }
};

TEST_P(SizesTest, BlockOfNoBytesIsABlock) {
  const std::string test = "ZeroByMalloc";
  EXPECT_EQ(OutcomeIn(test), OverBudget({InBody(test, 0, 1, "malloc", "nothing by malloc")}));
}

TEST_P(SizesTest, ArrayOfNothingIsABlock) {
  const std::string test = "ZeroByNew";
  EXPECT_EQ(OutcomeIn(test), OverBudget({InBody(test, 0, 1, "new[]", "nothing by new[]")}));
}

TEST_P(SizesTest, CountsAGiBThatWasNeverTouched) {
  const std::string test = "OneGiBUntouched";
  EXPECT_EQ(OutcomeIn(test), OverBudget({InBody(test, kGiB, 1, "malloc", "untouched")}));
}

TEST_P(SizesTest, CountsAGiBThatWasTouched) {
  const std::string test = "OneGiBTouched";
  EXPECT_EQ(OutcomeIn(test), OverBudget({InBody(test, kGiB, 1, "malloc", "touched")}));
}

TEST_P(SizesTest, PassesAGiBThatWasFreed) { EXPECT_EQ(OutcomeIn("OneGiBFreed"), Pass()); }

TEST_P(SizesTest, CountsAMillionBlocksOfThreeCallSites) {
  const std::string test = "AMillionBlocks";
  EXPECT_EQ(OutcomeIn(test), OverBudget({InBody(test, 7200000, 300000, "malloc", "more"),
                                         InBody(test, 4000000, 500000, "malloc", "half a million"),
                                         InBody(test, 800000, 200000, "new", "yet more")}));
}

LEAKGATE_IN_BOTH_MODES(SizesTest);

}  // namespace
}  // namespace leakgate::test
