// Allocation wrappers: whoever calls them is told, and charged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "tests/integration/both_modes.h"
#include "tests/support/command.h"

namespace leakgate::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class WrappersTest : public BothModes {
 protected:
  static GatedRun Run(const std::vector<std::string>& options) {
    return RunByDefault({Fixture("wrappers")}, options);
  }
  static GatedRun RunWith(const std::string& budget) {
    const TemporaryDirectory directory;
    const std::string file = directory.File("base.leakgate.json");
    std::ofstream(file) << budget;
    return Run({"--budgets", file});
  }
  static std::string PlaceIn(const GatedRun& run, const std::string& test) {
    const Outcome outcome = OutcomeOf(run.Test("Wrapped." + test));
    EXPECT_EQ(outcome.verdict, "over_budget") << test;
    return outcome.leaks.empty() ? "none" : outcome.leaks.front().place;
  }
};

// Two wrappers that a line calls are two.
TEST_P(WrappersTest, StaysInSightWhereWholeStacksAreShown) {
  const TemporaryDirectory directory;
  const std::string file = directory.File("recording");
  (void)RunCommand({LeakgatePath(), "record", "-o", file, "--", Fixture("wrappers"),
                    "--gtest_filter=*.ByAKnownOne"});
  const auto shown = [&](const std::string& how) {
    return RunCommand({LeakgatePath(), "recording", "show", file, how, "--weigh=outstanding"})
        .standard_output;
  };
  EXPECT_THAT(shown("--view=tree"), HasSubstr("xmalloc"));
  EXPECT_THAT(shown("--group-by=stack"), HasSubstr("xmalloc"));
}

TEST_P(WrappersTest, AKnownOneIsNeverTheCallSite) {
  const GatedRun run = Run({});
  EXPECT_EQ(run.command.exit_code, 1);
  EXPECT_EQ(PlaceIn(run, "ByAKnownOne"), PlaceOf("wrappers.cpp", "known"));
  EXPECT_EQ(PlaceIn(run, "ByOneThatTheLibraryCalls"), PlaceOf("wrappers.cpp", "lambda"));
  const std::string said = run.command.standard_output + run.command.standard_error;
  EXPECT_THAT(said, HasSubstr("through xmalloc [known wrapper]"));
  EXPECT_THAT(said, Not(HasSubstr(R"("stack": ["xmalloc"])")));
  const std::string function =
      OutcomeOf(run.Test("Wrapped.ByAFunctionOfAKnownOne")).leaks[0].function;
  EXPECT_EQ(function, "net::Copy(char const*)");
  EXPECT_THAT(OutcomeOf(run.Test("Wrapped.ByAFactory")).leaks[0].function, HasSubstr("MakeWidget"));
}

TEST_P(WrappersTest, AreDeclaredOnTheCommandLine) {
  const GatedRun run =
      Run({"--wrapper", "*_Malloc", "--wrapper", "net::MakeWidget", "--wrapper=net::Copy"});
  EXPECT_EQ(PlaceIn(run, "ByAPattern"), PlaceOf("wrappers.cpp", "pattern"));
  EXPECT_EQ(PlaceIn(run, "ByAFactory"), PlaceOf("wrappers.cpp", "factory"));
  EXPECT_THAT(OutcomeOf(run.Test("Wrapped.ByAFunctionOfAKnownOne")).leaks[0].function,
              HasSubstr("TestBody"));
  EXPECT_THAT(run.command.standard_output + run.command.standard_error,
              HasSubstr("Frame_Malloc [declared wrapper]"));
}

TEST_P(WrappersTest, AreDeclaredByABudgetFileWhoseComponentIsNotChargedForThem) {
  const GatedRun run = RunWith(
      R"({"component": "base", "code": {"functions": ["xmalloc", "Frame_Malloc", "net::*"]},
          "wrappers": ["*_Malloc", "net::MakeWidget"]})");
  EXPECT_EQ(PlaceIn(run, "ByAPattern"), PlaceOf("wrappers.cpp", "pattern"));
  EXPECT_EQ(PlaceIn(run, "ByAFactory"), PlaceOf("wrappers.cpp", "factory"));
  for (const char* const test : {"ByAPattern", "ByAFactory", "ByAKnownOne"}) {
    for (const nlohmann::json& violation : run.Test(std::string("Wrapped.") + test)["violations"]) {
      EXPECT_TRUE(violation["component"].is_null()) << test << violation;
    }
  }
  const nlohmann::json violations = run.Test("Wrapped.ByAFunctionOfAKnownOne")["violations"];
  EXPECT_EQ(violations[0]["component"], "base");
}

// Were it so, a pattern that is too wide would hide where all blocks come from.
TEST_P(WrappersTest, AreToldWhereNothingElseIs) {
  const GatedRun run = Run({"--wrapper", "*"});
  EXPECT_EQ(run.command.exit_code, 1);
  EXPECT_THAT(OutcomeOf(run.Test("Wrapped.ByAKnownOne")).leaks[0].function, HasSubstr("xmalloc"));
}

LEAKGATE_IN_BOTH_MODES(WrappersTest);

}  // namespace
}  // namespace leakgate::test
