// Pools that know nothing of leakgate, whose functions a budget file names.
#include <gmock/gmock.h>

#include "tests/integration/both_modes.h"

namespace leakgate::test {
namespace {

class NamedPoolsTest : public BothModes {
 protected:
  static const std::string& Budget() {
    static const std::string path =
        std::string(LEAKGATE_SOURCE_DIR) + "/tests/fixtures/named_pools/named_pools.leakgate.json";
    return path;
  }
  static Leak Left(long bytes, const std::string& test, const std::string& marker) {
    return {bytes, 1, "pool", "(anonymous namespace)::Left_" + test + "_Test::TestBody()",
            PlaceOf("named_pools/tests.cpp", marker)};
  }
};

TEST_P(NamedPoolsTest, AreJudgedAsMallocIs) {
  const GatedRun run = RunByDefault({Fixture("named_pools")}, {"--budgets", Budget()});
  EXPECT_EQ(run.command.exit_code, 1) << run.command.standard_error;
  for (const nlohmann::json& window : run.report["windows"]) {
    const std::string name = window["name"];
    if (window["kind"] != "test" || name.starts_with("Left.")) continue;
    EXPECT_EQ(window["verdict"], "pass") << name << window;
  }
  const auto outcome = [&](const std::string& test) { return OutcomeOf(run.Test(test)); };
  EXPECT_EQ(outcome("Left.InAnArena"), OverBudget({Left(71, "InAnArena", "arena")}));
  EXPECT_EQ(outcome("Left.Aligned"), OverBudget({Left(72, "Aligned", "aligned")}));
  EXPECT_EQ(outcome("Left.WithArgumentsOnTheStack"),
            OverBudget({Left(73, "WithArgumentsOnTheStack", "numbered")}));
  EXPECT_EQ(outcome("Left.Reallocated"), OverBudget({Left(74, "Reallocated", "reallocated")}));
  EXPECT_EQ(run.Test("Left.DeeperThanAnException")["violations"][0]["actual"], 79);
  EXPECT_EQ(outcome("Left.InAPool"), OverBudget({Left(75, "InAPool", "pool")}));
  EXPECT_EQ(outcome("Left.ByMalloc"), OverBudget({Left(76, "ByMalloc", "malloc")}));
  EXPECT_EQ(outcome("Left.ByCalloc"), OverBudget({Left(77, "ByCalloc", "calloc")}));
}

// Without the budget file, nobody knows of the pools' blocks.
TEST_P(NamedPoolsTest, AreOnlyChunksWhereNobodyNamesThem) {
  const GatedRun run = RunByDefault({Fixture("named_pools"), "--gtest_filter=Left.ByMalloc"});
  EXPECT_EQ(run.Test("Left.ByMalloc")["verdict"], "pass");
}

LEAKGATE_IN_BOTH_MODES(NamedPoolsTest);

}  // namespace
}  // namespace leakgate::test
