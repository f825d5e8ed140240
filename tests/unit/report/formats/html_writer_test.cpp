#include "runner/report/formats/html_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runner/report/formats/html_page.h"
#include "tests/unit/report/formats/page.h"

namespace leakgate {
namespace {

using page::FindingOf;
using page::FrameNamed;
using page::Json;
using page::ReportIn;
using page::RunOf;
using page::WindowOf;
using page::Written;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

TEST(HtmlTemplateTest, HasOnePlaceForTheReport) {
  const std::string_view page = HtmlTemplate();
  const std::size_t mark = page.find(kHtmlReportMark);

  ASSERT_NE(mark, std::string_view::npos);
  EXPECT_EQ(page.find(kHtmlReportMark, mark + 1), std::string_view::npos);
  EXPECT_TRUE(page.starts_with("<!doctype html>"));
}

TEST(HtmlWriterTest, IsTheTemplateWithTheReportInIt) {
  const std::string html = Written({RunOf({})});

  EXPECT_TRUE(html.starts_with("<!doctype html>"));
  EXPECT_TRUE(html.ends_with("</html>\n"));
  EXPECT_THAT(html, Not(HasSubstr(std::string(kHtmlReportMark))));
  EXPECT_THAT(ReportIn(html)["runs"], SizeIs(1));
}

TEST(HtmlWriterTest, WritesNoRunAsAReportOfNone) {
  const Json report = ReportIn(Written({}));

  EXPECT_EQ(report["runs"], Json::array());
  EXPECT_EQ(report["baseline"], Json::array());
}

TEST(HtmlWriterTest, GivesTheSameBytesForTheSameRuns) {
  const RunResult run =
      RunOf({WindowOf("A.B", {FindingOf({FrameNamed("f()"), FrameNamed("main")})})});

  EXPECT_EQ(Written({run, run}), Written({run, run}));
}

TEST(HtmlWriterTest, CannotBeEndedEarlyByAName) {
  const std::string name = "A.</script><!--<script>\xE2\x80\xA8\xE2\x80\xA9";
  const std::string html = Written({RunOf({WindowOf(name, {FindingOf({FrameNamed(name)})})})});

  EXPECT_THAT(page::ScriptText(html), Not(HasSubstr("<")));
  EXPECT_THAT(page::ScriptText(html), Not(HasSubstr("\xE2\x80\xA8")));
  EXPECT_EQ(ReportIn(html)["runs"][0]["windows"][0]["name"], name);
}

TEST(HtmlWriterTest, ReplacesWhatIsNotUtf8) {
  const std::string html = Written({RunOf({WindowOf("A.\xFF", {})})});

  EXPECT_EQ(ReportIn(html)["runs"][0]["windows"][0]["name"], "A.\xEF\xBF\xBD");
}

TEST(HtmlWriterTest, KeepsTheKeysOfARunAndLeavesAmountsOfNothingOut) {
  const Json run = ReportIn(Written({RunOf({WindowOf("A.B", {})})}))["runs"][0];

  EXPECT_EQ(run["report"]["schema"], "leakgate-report-2");
  EXPECT_EQ(run["report"]["binary"], "t");
  EXPECT_FALSE(run["report"].contains("windows"));
  EXPECT_EQ(run["windows"][0]["outstanding"], Json({64, 1}));
  EXPECT_FALSE(run["windows"][0].contains("lost"));
  EXPECT_FALSE(run["windows"][0].contains("findings"));
}

TEST(HtmlWriterTest, TellsWhenAWindowWasAndWhatWasLiveThen) {
  WindowResult window = WindowOf("A.B", {});
  window.begin = std::chrono::milliseconds(500);
  window.live_bytes_at_begin = 10;
  window.live_bytes_at_end = 20;
  const Json written = ReportIn(Written({RunOf({window})}))["runs"][0]["windows"][0];

  EXPECT_EQ(written["begin_seconds"], 0.5);
  EXPECT_EQ(written["live_bytes"]["end"], 20);
}

TEST(HtmlWriterTest, TellsAFindingByNumbersWithoutTrailingZeros) {
  const Json report =
      ReportIn(Written({RunOf({WindowOf("A.B", {FindingOf({FrameNamed("f()")})})})}));
  const Json& finding = report["runs"][0]["windows"][0]["findings"][0];
  const Json& strings = report["strings"];

  ASSERT_THAT(finding, SizeIs(7));  // in the order of report-ui/src/fields.ts
  EXPECT_EQ(finding[0], 64);
  EXPECT_EQ(finding[1], 1);
  EXPECT_EQ(strings[finding[2].get<std::size_t>()], "new");
  EXPECT_EQ(strings[finding[3].get<std::size_t>()], "outstanding");
  EXPECT_EQ(finding[4], 1);  // the user's frame, counted from 1
  EXPECT_EQ(finding[5], 0);  // the stack is complete
  EXPECT_EQ(finding[6], 1);  // the one node of the stacks
}

TEST(HtmlWriterTest, WritesTheBaselineBesideTheRuns) {
  const Json report = ReportIn(
      Written({RunOf({})}, {.read_source = {}, .baseline = {RunOf({WindowOf("A.B", {})})}}));

  ASSERT_THAT(report["baseline"], SizeIs(1));
  ASSERT_THAT(report["runs"], SizeIs(1));
  EXPECT_EQ(report["baseline"][0]["windows"][0]["name"], "A.B");
  EXPECT_EQ(report["baseline"][0]["windows"][0]["outstanding"], Json({64, 1}));
}

TEST(HtmlWriterTest, LeavesOutTheStacksOfTheBaseline) {
  const RunResult before = RunOf({WindowOf("A.B", {FindingOf({FrameNamed("long_ago()")})})});
  const ReadSource read = [](const std::string&) -> std::optional<std::string> {
    ADD_FAILURE() << "a source of the baseline was read";
    return "";
  };

  EXPECT_THAT(Written({RunOf({})}, {.read_source = read, .baseline = {before, before}}),
              Not(HasSubstr("long_ago")));
}

TEST(HtmlWriterTest, QuotesTheLinesAroundTheUsersFrame) {
  const ReadSource read = [](const std::string& file) -> std::optional<std::string> {
    EXPECT_EQ(file, "/src/pool.cc");
    std::string text;
    for (int line = 1; line <= 100; ++line) text += "line " + std::to_string(line) + "\n";
    return text;
  };
  const RunResult run = RunOf({WindowOf("A.B", {FindingOf({FrameNamed("f()")})})});
  const Json sources = ReportIn(Written({run}, {.read_source = read, .baseline = {}}))["sources"];

  ASSERT_THAT(sources, SizeIs(1));
  EXPECT_EQ(sources[0][0], "/src/pool.cc");
  EXPECT_EQ(sources[0][1], 84);
  EXPECT_EQ(sources[0][6], "line 88");
}

TEST(ComparedRunTest, KeepsVerdictsAndAmountsWithoutStacks) {
  WindowResult window = WindowOf("A.B", {FindingOf({FrameNamed("f()")})});
  window.mappings = window.findings;
  window.source_file = "a.cc";
  window.known = {32, 1};
  const RunResult compared = KeepComparedParts(RunOf({window}));

  EXPECT_EQ(compared.binary, "t");
  ASSERT_THAT(compared.windows, SizeIs(1));
  EXPECT_EQ(compared.windows[0].name, "A.B");
  EXPECT_EQ(compared.windows[0].verdict, Verdict::kOverBudget);
  EXPECT_EQ(compared.windows[0].outstanding, (Amount{64, 1}));
  EXPECT_EQ(compared.windows[0].known, (Amount{32, 1}));
  EXPECT_THAT(compared.windows[0].findings, testing::IsEmpty());
  EXPECT_THAT(compared.windows[0].mappings, testing::IsEmpty());
}

TEST(ComparedRunTest, APageIsTheSameWithTheWholeBaseline) {
  const RunResult whole = RunOf({WindowOf("A.B", {FindingOf({FrameNamed("f()")})})});

  EXPECT_EQ(Written({RunOf({})}, {.read_source = {}, .baseline = {whole}}),
            Written({RunOf({})}, {.read_source = {}, .baseline = {KeepComparedParts(whole)}}));
}

Violation OverBy(Metric metric, std::int64_t actual) {
  Violation violation;
  violation.metric = metric;
  violation.actual = actual;
  return violation;
}

WindowResult OverByLostBytes(const std::string& name, const std::string& function) {
  Finding finding = FindingOf({FrameNamed(function), FrameNamed("main")});
  finding.reach = Reach::kLost;
  WindowResult window = WindowOf(name, {finding});
  window.violations = {OverBy(Metric::kLostBytes, 64)};
  return window;
}

TEST(HtmlWriterTest, NumbersTheCausesOfAllRunsAlike) {
  const RunResult one = RunOf({OverByLostBytes("A.B", "f()"), OverByLostBytes("A.C", "g()")});
  const RunResult other = RunOf({OverByLostBytes("A.D", "g()")});
  const Json runs = ReportIn(Written({one, other}))["runs"];

  const Json first = {0};
  Json cause = runs[0]["windows"][0]["causes"][0];
  EXPECT_THAT(cause[5], SizeIs(2));  // a place, and the entry
  cause.erase(5);
  EXPECT_EQ(cause, Json::array({0, first, 0, 0, first}));
  EXPECT_EQ(runs[0]["windows"][1]["causes"][0][0], 1);
  EXPECT_EQ(runs[1]["windows"][0]["causes"][0][0], 1);
}

TEST(HtmlWriterTest, TakesALimitWithoutACallSiteForAnotherCauseInAnotherProgram) {
  WindowResult window = WindowOf("A.B", {});
  window.violations = {OverBy(Metric::kFileDescriptors, 2)};
  RunResult other = RunOf({window});
  other.binary = "u";
  const Json runs = ReportIn(Written({RunOf({window}), other}))["runs"];

  EXPECT_EQ(runs[0]["windows"][0]["causes"][0][0], 0);
  EXPECT_EQ(runs[1]["windows"][0]["causes"][0][0], 1);
}

TEST(HtmlWriterTest, TellsInWordsHowMemoryGrows) {
  Finding finding = FindingOf({FrameNamed("f()")});
  finding.reach = Reach::kRetained;
  finding.disposition = Disposition::kSteady;
  finding.series = {2, 2, 2};
  const Json report = ReportIn(Written({RunOf({WindowOf("A.B", {finding})})}));
  const Json numbers = report["runs"][0]["windows"][0]["findings"][0];

  ASSERT_THAT(numbers, SizeIs(21));
  EXPECT_EQ(report["strings"][numbers[20].get<std::size_t>()],
            "retained, grows by 2 blocks each time");
}

TEST(HtmlWriterTest, TellsBytesOfASeriesOnlyWhereTheyGrowAndTheBlocksDoNot) {
  Finding finding = FindingOf({FrameNamed("f()")});
  finding.series = {1, 1};
  finding.series_bytes = {8, 8};
  Finding alone = finding;
  alone.series = {0, 0};
  const Json report = ReportIn(Written({RunOf({WindowOf("A.B", {finding, alone})})}));
  const Json& findings = report["runs"][0]["windows"][0]["findings"];

  ASSERT_THAT(findings[0], SizeIs(15));
  EXPECT_EQ(findings[0][14], Json({1, 1}));
  ASSERT_THAT(findings[1], SizeIs(16));
  EXPECT_EQ(findings[1][15], Json({8, 8}));
}

TEST(HtmlWriterTest, WritesWhatASmallPartOfAWindowHoldsByTheSameRules) {
  WindowResult window = WindowOf("A.B", {});
  window.threads = 0;
  window.temporary = Amount{32, 2};
  window.violations = {OverBy(Metric::kFileDescriptors, 2)};
  FreeErrorResult& error = window.free_errors.emplace_back();
  error.text = "freed twice";
  error.freed_at = FindingOf({FrameNamed("f()")});
  const Json report = ReportIn(Written({RunOf({window})}));
  const Json& written = report["runs"][0]["windows"][0];
  const auto text = [&](const Json& index) { return report["strings"][index.get<std::size_t>()]; };

  EXPECT_EQ(written["threads"], 0);
  EXPECT_EQ(written["temporary"], Json({32, 2}));
  EXPECT_EQ(text(written["violations"][0]["metric"]), "file_descriptors");
  EXPECT_EQ(written["violations"][0]["actual"], 2);
  EXPECT_FALSE(written["violations"][0].contains("file"));
  EXPECT_EQ(text(written["free_errors"][0]["text"]), "freed twice");
  EXPECT_EQ(written["free_errors"][0]["freed_at"][0], 64);
}

TEST(HtmlWriterTest, HasEarlierResultsOnlyWhereAHistoryWasNamed) {
  std::ostringstream out;
  const EarlierResults earlier = {"leaks.sqlite",
                                  {{"3f2a", "2026-01-31T12:00:00Z", 20, 3, {640, 7}}}};
  const ReportWriter writer = NewHtmlWriter(out, {}, earlier);
  writer.finish();

  const Json expected = {{"file", "leaks.sqlite"},
                         {"moments", {{"3f2a", "2026-01-31T12:00:00Z", 20, 3, 640, 7}}}};
  EXPECT_EQ(ReportIn(out.str())["history"], expected);
  EXPECT_FALSE(ReportIn(Written({})).contains("history"));
}

}  // namespace
}  // namespace leakgate
