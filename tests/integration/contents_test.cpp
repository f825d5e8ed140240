// What lost blocks begin with is shown, unless somebody says that it may be a secret.
#include <gmock/gmock.h>

#include "tests/integration/both_modes.h"

namespace leakgate::test {
namespace {

using testing::HasSubstr;
using testing::Not;

// net::Copy copies "text", and its caller forgets that.
class ContentsTest : public BothModes {
 protected:
  GatedRun Run(const std::vector<std::string>& options = {}) const {
    return RunByDefault({Fixture("wrappers"), "--gtest_filter=*.ByAFunctionOfAKnownOne"}, options);
  }
  static std::string ContentsIn(const GatedRun& run) {
    return run.Test("Wrapped.ByAFunctionOfAKnownOne")["findings"][0].value("contents", "none");
  }
};

TEST_P(ContentsTest, AreShownWithTheFinding) {
  const GatedRun run = Run();
  EXPECT_EQ(ContentsIn(run), "7465787400");
  EXPECT_THAT(run.command.standard_output + run.command.standard_error, HasSubstr("|text.|"));
}

TEST_P(ContentsTest, AreNotShownWhereABudgetFileOrTheCommandSaysSo) {
  const TemporaryDirectory directory;
  const std::string budget =
      directory.Write("a.leakgate.json", R"({"component": "a", "contents": false})");
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{"--budgets", budget}, {"--contents=none"}}) {
    const GatedRun run = Run(options);
    EXPECT_EQ(run.command.exit_code, 1);
    EXPECT_EQ(ContentsIn(run), "none");
    EXPECT_THAT(run.command.standard_output + run.command.standard_error, Not(HasSubstr("|text")));
  }
}

LEAKGATE_IN_BOTH_MODES(ContentsTest);

}  // namespace
}  // namespace leakgate::test
