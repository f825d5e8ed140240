// Blocks of pools that tell of them (leakgate/pool.h).
#include <gmock/gmock.h>

#include "tests/integration/both_modes.h"

namespace leakgate::test {
namespace {

class PoolsTest : public BothModes {
 protected:
  static Leak Left(long bytes, const std::string& test, const std::string& marker) {
    return {bytes, 1, "pool", "(anonymous namespace)::Left_" + test + "_Test::TestBody()",
            PlaceOf("pools.cpp", marker)};
  }
  static const GatedRun& Run() { return SharedRunByDefault({Fixture("pools")}); }
  static Outcome OutcomeIn(const std::string& test) { return OutcomeOf(Run().Test(test)); }
};

TEST_P(PoolsTest, WhatIsFreedOrHeldPasses) {
  for (const nlohmann::json& window : Run().report["windows"]) {
    const std::string name = window["name"];
    if (window["kind"] != "test" || name.starts_with("Left.")) continue;
    EXPECT_EQ(window["verdict"], "pass") << name << window;
  }
}

TEST_P(PoolsTest, WhatIsLostIsChargedToWhoAskedThePool) {
  EXPECT_EQ(OutcomeIn("Left.InAnArena"), OverBudget({Left(71, "InAnArena", "arena")}));
  EXPECT_EQ(OutcomeIn("Left.InAMapping"), OverBudget({Left(72, "InAMapping", "mapping")}));
  EXPECT_EQ(OutcomeIn("Left.InAnArray"), OverBudget({Left(73, "InAnArray", "array")}));
  EXPECT_EQ(OutcomeIn("Left.InAFreeList"), OverBudget({Left(48, "InAFreeList", "free list")}));
  EXPECT_EQ(OutcomeIn("Left.ALargeOne"), OverBudget({Left(5000, "ALargeOne", "large")}));
  EXPECT_EQ(OutcomeIn("Left.AtOddAddresses"),
            OverBudget({Left(3, "AtOddAddresses", "odd"), Left(1, "AtOddAddresses", "odd, too")}));
  EXPECT_EQ(OutcomeIn("Left.InABlockOfAnotherPool"),
            OverBudget({Left(75, "InABlockOfAnotherPool", "nested")}));
}

TEST_P(PoolsTest, WhatIsLostWithABlockIsToldWithIt) {
  const nlohmann::json tree = Run().Test("Left.ATree");
  EXPECT_EQ(tree["verdict"], "over_budget");
  EXPECT_EQ(tree["outstanding"]["bytes"], 80);
  EXPECT_EQ(tree["outstanding"]["blocks"], 3);
  const nlohmann::json arena = Run().Test("Left.WithItsArena");
  EXPECT_EQ(arena["verdict"], "over_budget");
}

LEAKGATE_IN_BOTH_MODES(PoolsTest);

}  // namespace
}  // namespace leakgate::test
