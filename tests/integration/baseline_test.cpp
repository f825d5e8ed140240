// `leakgate run --baseline`: what is known passes, inside GoogleTest as well; what
// is new fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/both_modes.h"
#include "tests/support/html_page.h"

namespace leakgate::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class BaselineTest : public BothModes {
 protected:
  // Runs `filter`, and keeps the report as the baseline of later runs.
  GatedRun RunFirst(const std::string& filter, const std::vector<std::string>& options = {}) {
    GatedRun run = RunByDefault({Fixture("kinds"), "--gtest_filter=" + filter}, options);
    baseline_ = directory_.Write("baseline.json", run.report.dump());
    return run;
  }
  GatedRun RunAgain(const std::string& filter, const std::string& fixture = "kinds",
                    std::vector<std::string> options = {}) const {
    options.insert(options.end(), {"--baseline", baseline_});
    return RunByDefault({Fixture(fixture), "--gtest_filter=" + filter}, options);
  }

  TemporaryDirectory directory_;
  std::string baseline_;
};

TEST_P(BaselineTest, WhatIsKnownDoesNotFailNeitherInsideGoogleTest) {
  ASSERT_NE(RunFirst("Kinds.Malloc").command.exit_code, 0);
  const GatedRun again = RunAgain("Kinds.Malloc");
  EXPECT_EQ(again.command.exit_code, 0) << again.command.standard_error;
  EXPECT_THAT(again.command.standard_output, HasSubstr("[  PASSED  ] 1 test."));
  EXPECT_THAT(again.command.standard_error, HasSubstr("1 known from baseline"));
  const nlohmann::json test = again.Test("Kinds.Malloc");
  EXPECT_EQ(test["verdict"], "pass");
  EXPECT_EQ(test["known"]["bytes"], 100);
  EXPECT_EQ(test["findings"][0]["baseline"], "known");
  EXPECT_EQ(test["findings"][0]["disposition"], "known");
  EXPECT_EQ(again.report["baseline"], baseline_);
}

TEST_P(BaselineTest, WhatIsNewFailsBesideWhatIsKnown) {
  (void)RunFirst("Kinds.Malloc");
  const GatedRun again = RunAgain("Kinds.Malloc:Kinds.Calloc");
  EXPECT_EQ(again.command.exit_code, 1) << again.command.standard_error;
  EXPECT_EQ(again.Test("Kinds.Malloc")["verdict"], "pass");
  const nlohmann::json test = again.Test("Kinds.Calloc");
  EXPECT_EQ(test["verdict"], "over_budget");
  EXPECT_EQ(test["findings"][0]["baseline"], "new");
}

TEST_P(BaselineTest, WhatWasKnownStaysKnownInTheNextBaseline) {
  (void)RunFirst("Kinds.Malloc");
  const GatedRun second = RunAgain("Kinds.Malloc");
  baseline_ = directory_.Write("baseline.json", second.report.dump());
  EXPECT_EQ(RunAgain("Kinds.Malloc").command.exit_code, 0);
}

TEST_P(BaselineTest, MoreBlocksOfAKnownFindingAreNew) {
  const GatedRun first = RunFirst("Kinds.Malloc");
  nlohmann::json fewer = first.report;
  for (nlohmann::json& window : fewer["windows"]) {
    for (nlohmann::json& finding : window["findings"]) finding["blocks"] = 0;
  }
  baseline_ = directory_.Write("baseline.json", fewer.dump());
  const GatedRun again = RunAgain("Kinds.Malloc");
  EXPECT_EQ(again.command.exit_code, 1);
  EXPECT_EQ(again.Test("Kinds.Malloc")["findings"][0]["baseline"], "new");
}

TEST_P(BaselineTest, SurvivesAnotherBinaryAndOtherLines) {
  GatedRun first = RunFirst("Kinds.Malloc");
  for (nlohmann::json& window : first.report["windows"]) {
    for (nlohmann::json& finding : window["findings"]) {
      for (nlohmann::json& frame : finding["stack"]) {
        frame["line"] = 1;
        frame["offset"] = "0x1";
      }
    }
  }
  first.report["binary"] = "renamed";
  baseline_ = directory_.Write("baseline.json", first.report.dump());
  EXPECT_EQ(RunAgain("Kinds.Malloc").command.exit_code, 0);
}

TEST_P(BaselineTest, AMergedReportIsABaselineToo) {
  const GatedRun first = RunFirst("Kinds.Malloc");
  const GatedRun other = RunByDefault({Fixture("kinds"), "--gtest_filter=Kinds.Calloc"}, {});
  const std::string a = directory_.Write("a.json", first.report.dump());
  const std::string b = directory_.Write("b.json", other.report.dump());
  (void)RunCommand({LeakgatePath(), "merge", a, b, "-o", baseline_});
  const GatedRun again = RunAgain("Kinds.Malloc:Kinds.Calloc");
  EXPECT_EQ(again.command.exit_code, 0) << again.command.standard_error;
}

TEST_P(BaselineTest, ABaselineThatCannotBeReadEndsTheRunBeforeItBegins) {
  baseline_ = directory_.Write("baseline.json", "{\"schema\": \"leakgate-rep");
  const GatedRun run = RunAgain("Kinds.Malloc");
  EXPECT_EQ(run.command.exit_code, 2);
  EXPECT_THAT(run.command.standard_error, HasSubstr("cut off"));
  EXPECT_EQ(run.command.standard_output, "");
}

TEST_P(BaselineTest, ALiteralLimitHoldsForWhatIsNewOnly) {
  const GatedRun first = RunGated({Fixture("kinds"), "--gtest_filter=Kinds.Malloc"});
  ASSERT_EQ(first.command.exit_code, 1);
  baseline_ = directory_.Write("baseline.json", first.report.dump());
  const GatedRun again =
      RunGated({Fixture("kinds"), "--gtest_filter=Kinds.Malloc"}, {"--baseline", baseline_});
  EXPECT_EQ(again.command.exit_code, 0) << again.command.standard_error;
}

// What is retained and known is not repeated to find out whether it grows.
TEST_P(BaselineTest, WhatIsKnownNeedsNoRepetition) {
  for (const std::string test :
       {"Repeated.LeavesOneEachTime", "Resources.StartsAThread", "Resources.Maps"}) {
    const GatedRun first = RunByDefault({Fixture("policy"), "--gtest_filter=" + test});
    ASSERT_EQ(first.command.exit_code, 1) << first.command.standard_error;
    baseline_ = directory_.Write("baseline.json", first.report.dump());
    const GatedRun again = RunAgain(test, "policy");
    EXPECT_EQ(again.command.exit_code, 0) << again.command.standard_error;
    EXPECT_EQ(again.report["confirming_seconds"], 0) << test;
    baseline_ = directory_.Write("baseline.json", again.report.dump());
    EXPECT_EQ(RunAgain(test, "policy").report["confirming_seconds"], 0) << test;
  }
}

// A number would excuse it: as many were known.
TEST_P(BaselineTest, AMappingOfAnotherLineIsNewWhereTheKnownOneIsGone) {
  const GatedRun first = RunByDefault({Fixture("policy"), "--gtest_filter=Resources.Maps"});
  nlohmann::json report = first.report;
  for (nlohmann::json& window : report["windows"]) {
    if (window["name"] == "Resources.Maps") window["name"] = "Resources.StartsAThread";
  }
  baseline_ = directory_.Write("baseline.json", report.dump());
  EXPECT_EQ(RunAgain("Resources.StartsAThread", "policy").command.exit_code, 1);
}

// The report replaces the baseline in the same run: the page compares with what it was.
TEST_P(BaselineTest, ThePageComparesWithTheBaselineEvenIfTheRunReplacesIt) {
  GatedRun first = RunFirst("Kinds.Malloc");
  first.report["windows"][0]["name"] = "FromTheBaseline";
  baseline_ = directory_.Write("baseline.json", first.report.dump());
  const std::string page = directory_.File("page.html");
  const CommandResult again = RunCommand(
      {LeakgatePath(), "run", "--baseline", baseline_, "--report", "json=" + baseline_, "--report",
       "html=" + page, "--", Fixture("kinds"), "--gtest_filter=Kinds.Malloc"});
  ASSERT_EQ(again.exit_code, 0) << again.standard_error;

  const nlohmann::json report = ReportInPage(ReadFile(page));
  ASSERT_EQ(report["baseline"].size(), 1u);
  EXPECT_EQ(report["baseline"][0]["windows"][0]["name"], "FromTheBaseline");
  EXPECT_EQ(report["baseline"][0]["windows"].size(), first.report["windows"].size());
  EXPECT_NE(report["runs"][0]["windows"][0]["name"], "FromTheBaseline");
  EXPECT_NE(ReadFile(baseline_), first.report.dump());
}

TEST_P(BaselineTest, OfAMergedBaselineThePageComparesWithTheRunsOfTheProgram) {
  const GatedRun first = RunFirst("Kinds.Malloc");
  const GatedRun other =
      RunByDefault({Fixture("policy"), "--gtest_filter=None"}, {"--allow-no-tests"});
  const std::string a = directory_.Write("a.json", first.report.dump());
  const std::string b = directory_.Write("b.json", other.report.dump());
  (void)RunCommand({LeakgatePath(), "merge", a, b, "-o", baseline_});
  const auto binaries = [&](const std::string& fixture) {
    const std::string page = directory_.File("page.html");
    (void)RunAgain("Kinds.Malloc", fixture, {"--report", "html=" + page});
    std::vector<std::string> names;
    const nlohmann::json report = ReportInPage(ReadFile(page));
    for (const nlohmann::json& run : report["baseline"]) {
      names.push_back(std::filesystem::path(run["report"]["binary"]).filename());
    }
    return names;
  };
  const std::string kinds = std::filesystem::path(Fixture("kinds")).filename();
  const std::string policy = std::filesystem::path(Fixture("policy")).filename();
  EXPECT_THAT(binaries("kinds"), ElementsAre(kinds));
  EXPECT_THAT(binaries("sizes"), ElementsAre(kinds, policy));  // it has been renamed, it seems
}

LEAKGATE_IN_BOTH_MODES(BaselineTest);

}  // namespace
}  // namespace leakgate::test
