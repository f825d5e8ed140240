// Allowances, in budget files and in code; blocks freed wrongly; where threads come
// from.
#include <gmock/gmock.h>

#include "tests/integration/both_modes.h"
#include "tests/integration/findings.h"

namespace leakgate::test {
namespace {

using testing::Contains;
using testing::HasSubstr;

class AllowancesTest : public BothModes {
 protected:
  GatedRun RunAllowing(const std::string& entry, const std::vector<std::string>& options = {},
                       const std::string& filter = "Net.Leaks100Bytes") {
    const std::string file = directory_.Write("a.leakgate.json",
                                              R"({"component": "a",
 "limits": {"test": {"outstanding": {"bytes": 0}}, "suite": {"outstanding": {"bytes": 300}},
            "program": {"outstanding": {"bytes": 500}}},
 "allowances": [
  )" + entry + "]}\n");
    std::vector<std::string> with_file = options;
    with_file.insert(with_file.end(), {"--budgets", file});
    std::vector<std::string> program = {Fixture("budgeted")};
    if (!filter.empty()) program.push_back("--gtest_filter=" + filter);
    return RunByDefault(program, with_file);
  }
  TemporaryDirectory directory_;
};

TEST_P(AllowancesTest, WithinItsLimitsPasses) {
  const GatedRun run = RunAllowing(
      R"({"stack": ["Net_Leaks100Bytes_Test::*"], "bytes": 100, "blocks": 1, "reason": "a pool"})");
  const nlohmann::json window = run.Test("Net.Leaks100Bytes");

  EXPECT_EQ(window["verdict"], "pass");
  EXPECT_EQ(window["allowed"]["bytes"], 100);
  EXPECT_THAT(TextsOf(window, "disposition"), Contains("allowed"));
  EXPECT_THAT(TextsOf(window, "explanation"), Contains("a pool"));
  EXPECT_EQ(run.command.exit_code, 0);
}

TEST_P(AllowancesTest, ExceededFailsAndSaysSo) {
  const nlohmann::json window =
      RunAllowing(R"({"stack": ["Net_Leaks100Bytes_Test::*"], "bytes": 99, "reason": "a pool"})")
          .Test("Net.Leaks100Bytes");

  EXPECT_EQ(window["verdict"], "over_budget");
  EXPECT_THAT(TextsOf(window, "explanation"),
              Contains(HasSubstr("a.leakgate.json:5 permits: 99 B for 100 B in 1 block")));
}

TEST_P(AllowancesTest, ExpiredFailsTheRunWithItsLine) {
  const GatedRun run =
      RunAllowing(R"({"stack": ["Net_*"], "reason": "a pool", "expires": "2020-01-31"})", {},
                  "Net.WritesAFile");

  EXPECT_EQ(run.command.exit_code, 1);
  EXPECT_THAT(run.command.standard_error, HasSubstr("a.leakgate.json:5"));
  EXPECT_THAT(run.command.standard_error, HasSubstr("expired on 2020-01-31"));
}

TEST_P(AllowancesTest, UnusedWarnsAndFailsAStrictRun) {
  const std::string entries =
      R"({"stack": ["Net_*"], "reason": "x"}, {"stack": ["Disk_*"], "reason": "x"},
         {"stack": ["nobody"], "reason": "x"})";
  const GatedRun run = RunAllowing(entries, {}, "");

  EXPECT_EQ(run.command.exit_code, 0) << run.command.standard_error;
  EXPECT_THAT(run.command.standard_error, HasSubstr("warning: "));
  EXPECT_THAT(run.command.standard_error, HasSubstr("the allowance for nobody was not used"));
  EXPECT_EQ(RunAllowing(entries, {"--strict"}, "").command.exit_code, 1);
}

LEAKGATE_IN_BOTH_MODES(AllowancesTest);

class CodeAllowancesTest : public BothModes {
 protected:
  static nlohmann::json Run(const std::string& test) {
    return RunTests("allowances", "-Dropped.*").Test(test);
  }
};

TEST_P(CodeAllowancesTest, ScopePermitsWhatIsAllocatedMeanwhile) {
  const nlohmann::json window = Run("Scoped.AllowsWhatIsAllocatedMeanwhile");

  EXPECT_EQ(window["verdict"], "pass");
  EXPECT_EQ(window["allowed"]["bytes"], 601);
  EXPECT_THAT(TextsOf(window, "explanation"), Contains("kept for good"));
}

TEST_P(CodeAllowancesTest, ScopePermitsNothingAfterwards) {
  EXPECT_EQ(OutcomeOf(Run("Scoped.AllowsNothingAfterwards")),
            OverBudget({{602, 1, "malloc", "Scoped_AllowsNothingAfterwards_Test::TestBody()",
                         PlaceOf("allowances.cpp", "after the scope")}}));
}

TEST_P(CodeAllowancesTest, ScopePermitsNoMoreThanItsLimit) {
  const nlohmann::json window = Run("Scoped.AllowsUpToItsLimit");

  EXPECT_EQ(window["verdict"], "over_budget");
  EXPECT_THAT(TextsOf(window, "explanation"), Contains(HasSubstr("permits: 2 blocks for 48 B")));
}

TEST_P(CodeAllowancesTest, HoldForWhatIsMeantAndForNothingElse) {
  EXPECT_EQ(Run("Scoped.TheInnermostCounts")["verdict"], "pass");
  EXPECT_EQ(Run("Scoped.HoldsForItsOwnThreadOnly")["verdict"], "over_budget");
  EXPECT_EQ(Run("Expected.PassesWhatTheTestMeansToLeave")["verdict"], "pass");
  EXPECT_EQ(Run("Expected.FailsWhatGoesBeyond")["verdict"], "over_budget");
}

TEST_P(CodeAllowancesTest, AScopeEndsWithItsTestAtTheLatest) {
  for (const char* const test : {"LeftOn.ByAJump", "LeftOn.EndedByAnotherThread"}) {
    const nlohmann::json window = Run(test);
    EXPECT_EQ(window["verdict"], "over_budget") << test;
    EXPECT_THAT(TextsOf(window, "explanation"),
                Contains(HasSubstr("allows nothing: it was still on when its test had ended")));
  }
  EXPECT_EQ(Run("LeftOn.AllowsNothingInLaterTests")["verdict"], "over_budget");
  const nlohmann::json first = Run("LeftOn.OnAThreadOfItsOwn");
  EXPECT_EQ(first["allowed"]["bytes"], 610) << first;
  const nlohmann::json later = Run("LeftOn.OnAThreadOfAnEarlierTest");
  EXPECT_EQ(later["verdict"], "over_budget");
  EXPECT_THAT(TextsOf(later, "explanation"),
              Contains(HasSubstr("allows nothing here: it began in an earlier test")));
}

TEST_P(CodeAllowancesTest, TooManyPlacesAreInconclusive) {
  const GatedRun run = RunTests("allowances", "Dropped.TooManyPlaces");

  EXPECT_EQ(run.report["verdict"], "inconclusive");
  EXPECT_GT(run.report["tracing"]["drops"]["allowance_table_full"], 0);
  EXPECT_EQ(run.command.exit_code, 3);
}

LEAKGATE_IN_BOTH_MODES(CodeAllowancesTest);

class FreeErrorsTest : public BothModes {
 protected:
  static const GatedRun& RunFreeing() { return RunTests("free_errors", "Mismatched.*:Legal.*"); }
  static std::string ErrorAt(const std::string& marker) {
    std::ifstream file(LEAKGATE_SOURCE_DIR "/tests/fixtures/free_errors.cpp");
    std::string text;
    for (int line = 1; std::getline(file, text); ++line) {
      if (text.ends_with("// ERROR: " + marker)) return "free_errors.cpp:" + std::to_string(line);
    }
    return "nowhere";
  }
};

TEST_P(FreeErrorsTest, IsToldOnceWithItsPlace) {
  struct Error {
    std::string test;
    std::string text;
    std::string marker;
  };
  const std::vector<Error> errors = {
      {"DeletesABlockOfMalloc", "41 B allocated by malloc and freed by delete", "delete of malloc"},
      {"FreesABlockOfNew", "42 B allocated by new and freed by free()", "free of new"},
      {"DeletesAnArrayAsOne", "43 B allocated by new[] and freed by delete", "delete of new[]"},
      {"ReallocatesABlockOfNew", "44 B allocated by new and freed by realloc()", "realloc of new"},
      {"IsToldOnceInALoop", "45 B allocated by malloc and freed by delete", "in a loop"},
  };
  for (const Error& error : errors) {
    const nlohmann::json window = RunFreeing().Test("Mismatched." + error.test);
    ASSERT_EQ(window["free_errors"].size(), 1) << window;
    EXPECT_EQ(window["free_errors"][0]["text"], error.text);
    EXPECT_EQ(LeakFrom(window["free_errors"][0]["freed_at"]).place, ErrorAt(error.marker));
    EXPECT_EQ(window["verdict"], "over_budget");
  }
  EXPECT_EQ(RunFreeing().command.exit_code, 1);
}

TEST_P(FreeErrorsTest, LegalFreesPass) {
  EXPECT_EQ(OutcomeOf(RunFreeing().Test("Legal.FreesEachByItsOwn")), Pass());
}

TEST_P(FreeErrorsTest, DoubleFreeIsToldThoughItEndsTheProgram) {
  const GatedRun run = RunGated(
      {Fixture("free_errors"), "--gtest_filter=Double.*", "--gtest_also_run_disabled_tests"});
  const nlohmann::json window = run.Test("Double.DISABLED_FreesTwice");

  EXPECT_EQ(run.command.exit_code, 128 + 6);
  ASSERT_TRUE(window.contains("free_errors")) << window;
  EXPECT_EQ(window["free_errors"][0]["text"], "freed twice, by free()");
}

LEAKGATE_IN_BOTH_MODES(FreeErrorsTest);

}  // namespace
}  // namespace leakgate::test
