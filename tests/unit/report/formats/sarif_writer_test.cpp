#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/report/formats/written.h"

namespace leakgate {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

json Log(const std::vector<RunResult>& runs,
         const ReportSurroundings& surroundings = sample::kSurroundings) {
  return json::parse(sample::Written(ReportFormat::kSarif, runs, surroundings)).at("runs").at(0);
}

json Results(const RunResult& run) { return Log({run}).at("results"); }

TEST(SarifTest, HasARuleForEachResult) {
  const json log = Log({sample::RunOfEverything()});
  const json& rules = log.at("tool").at("driver").at("rules");
  for (const json& result : log.at("results")) {
    EXPECT_EQ(rules.at(result.at("ruleIndex").get<std::size_t>()).at("id"), result.at("ruleId"));
  }
  EXPECT_EQ(log.at("tool").at("driver").at("version"), "0.1.0");
}

TEST(SarifTest, PlacesAResultBelowTheSourceRoot) {
  const json log = Log({sample::RunOf({sample::FailingUncoveredTest()})});

  EXPECT_EQ(log.at("originalUriBaseIds").at("SRCROOT").at("uri"), "file:///home/me/project/");
  const json& place = log.at("results").at(0).at("locations").at(0).at("physicalLocation");
  EXPECT_EQ(place.at("artifactLocation").at("uri"), "src/net/pool.cc");
  EXPECT_EQ(place.at("artifactLocation").at("uriBaseId"), "SRCROOT");
  EXPECT_EQ(place.at("region").at("startLine"), 88);
}

TEST(SarifTest, NamesFilesElsewhereInFull) {
  const json log = Log({sample::RunOf({sample::FailingUncoveredTest()})}, {"/home/you", ""});

  const json& place = log.at("results").at(0).at("locations").at(0).at("physicalLocation");
  EXPECT_EQ(place.at("artifactLocation").at("uri"), "file:///home/me/project/src/net/pool.cc");
  EXPECT_FALSE(place.at("artifactLocation").contains("uriBaseId"));
}

TEST(SarifTest, EscapesPathsAsUris) {
  RunResult run = sample::RunOf({sample::FailingUncoveredTest()});
  run.windows[0].findings[0].stack.Edit()[2].file = "/home/me/project/a b#c%.cc";
  EXPECT_EQ(Results(run)[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
            "a%20b%23c%25.cc");
}

TEST(SarifTest, KnowsAResultAgainWhenLinesHaveMoved) {
  const RunResult run = sample::RunOf({sample::FailingUncoveredTest()});
  RunResult moved = run;
  for (Frame& frame : moved.windows[0].findings[0].stack.Edit()) {
    frame.line += 3;
    frame.module_offset += 64;
  }
  EXPECT_EQ(Results(run)[0]["partialFingerprints"], Results(moved)[0]["partialFingerprints"]);
}

TEST(SarifTest, HasTheWholeStackAndTheWayThroughTheUsersCode) {
  const json result = Results(sample::RunOf({sample::FailingUncoveredTest()}))[0];

  EXPECT_THAT(result["stacks"][0]["frames"], SizeIs(10));
  const json& flow = result["codeFlows"][0]["threadFlows"][0]["locations"];
  ASSERT_THAT(flow, SizeIs(3));
  EXPECT_EQ(flow[0]["location"]["message"]["text"], "HttpTest_KeepAlive_Test::TestBody");
  EXPECT_EQ(flow[2]["location"]["message"]["text"], "net::Pool::Grow");
}

TEST(SarifTest, TellsBothStacksOfAFreeingError) {
  const json results = Results(sample::RunOfEverything());
  const auto error = std::find_if(results.begin(), results.end(), [](const json& result) {
    return result["ruleId"] == "leakgate.mismatched_free";
  });
  ASSERT_NE(error, results.end());
  EXPECT_EQ((*error)["stacks"][0]["message"]["text"], "freed at");
  EXPECT_EQ((*error)["stacks"][1]["message"]["text"], "allocated at");
}

json Suppressed(Finding finding) {
  WindowResult window = sample::PassingTest("A.B");
  window.findings = {std::move(finding)};
  return Results(sample::RunOf({window}))[0]["suppressions"][0];
}

TEST(SarifTest, SuppressesWhatAnAllowanceCovers) {
  const json suppression = Suppressed(sample::AllowedFinding());
  EXPECT_EQ(suppression["kind"], "external");
  EXPECT_EQ(suppression["justification"], "one socket is pooled (budgets/net.leakgate.json:7)");

  Finding in_code = sample::AllowedFinding();
  in_code.allowance = "src/net/pool.cc:80";
  EXPECT_EQ(Suppressed(in_code)["kind"], "inSource");
}

TEST(SarifTest, HasAnInvocationForEachRunWithItsExitCode) {
  RunResult killed = sample::PassingRun();
  killed.program = {.exit_code = {}, .signal = 11};
  killed.exit_code = 139;

  const json invocations = Log({sample::PassingRun(), killed}).at("invocations");

  ASSERT_THAT(invocations, SizeIs(2));
  EXPECT_EQ(invocations[0]["exitCode"], 0);
  EXPECT_EQ(invocations[1]["exitCode"], 139);
  EXPECT_EQ(invocations[1]["exitSignalNumber"], 11);
  EXPECT_EQ(invocations[1]["executableLocation"]["uri"], "build/http_test");
}

TEST(SarifTest, NotifiesOfWhatIsInconclusive) {
  RunResult run = sample::RunOf({sample::InconclusiveTest("A.B", "the map was full")});
  run.verdict = Verdict::kInconclusive;
  run.reasons = {"2 allocations were not recorded"};

  const json invocation = Log({run}).at("invocations").at(0);

  EXPECT_EQ(invocation["executionSuccessful"], false);
  const json& notifications = invocation["toolExecutionNotifications"];
  ASSERT_THAT(notifications, SizeIs(2));
  EXPECT_EQ(notifications[0]["message"]["text"], "2 allocations were not recorded");
  EXPECT_EQ(notifications[1]["message"]["text"], "A.B: the map was full");
}

TEST(SarifTest, AResultThatHasNoPlaceIsTheProgram) {
  RunResult run = sample::RunOf({});
  run.failures = {"an entry of no file"};
  EXPECT_EQ(Results(run)[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
            "build/http_test");
}

TEST(SarifTest, TheMessageBeginsWithTheAnswer) {
  const std::string text =
      Results(sample::RunOf({sample::FailingUncoveredTest()}))[0]["message"]["text"];
  EXPECT_THAT(text,
              StartsWith("128 B in 2 blocks lost by net::Pool::Grow in HttpTest.KeepAlive\n"));
  EXPECT_THAT(text, HasSubstr("tests/http_test.cc:27"));
}

}  // namespace
}  // namespace leakgate
