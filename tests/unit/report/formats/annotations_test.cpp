// GitHub's annotations, GitLab's issues, and Markdown for both.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "runner/report/formats/escaped_text.h"
#include "tests/unit/report/formats/written.h"

namespace leakgate {
namespace {

using sample::Written;
using testing::AllOf;
using testing::AnyOf;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Le;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

std::vector<std::string> LinesOf(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(GithubTest, IsAnErrorWhereItWasAllocated) {
  const std::string text =
      Written(ReportFormat::kGithub, {sample::RunOf({sample::FailingUncoveredTest()})});
  EXPECT_THAT(LinesOf(text), SizeIs(1));
  EXPECT_THAT(text, StartsWith("::error file=src/net/pool.cc,line=88,title=Lost memory::128 B in 2 "
                               "blocks lost by net::Pool::Grow in HttpTest.KeepAlive%0A"));
}

TEST(GithubTest, SaysNothingOfWhatPassedOrIsAllowed) {
  WindowResult window = sample::PassingTest("A.B");
  window.findings = {sample::AllowedFinding()};
  EXPECT_THAT(Written(ReportFormat::kGithub, {sample::PassingRun(), sample::RunOf({window})}),
              IsEmpty());
}

TEST(GithubTest, WhatIsUnconfirmedIsANoticeAndWhatIsInconclusiveAnError) {
  EXPECT_THAT(Written(ReportFormat::kGithub, {sample::RunOf({sample::UnconfirmedTest()})}),
              StartsWith("::notice file=src/net/pool.cc,"));
  EXPECT_EQ(
      Written(ReportFormat::kGithub, {sample::RunOf({sample::InconclusiveTest("A.B", "full")})}),
      "::error title=Inconclusive::inconclusive: A.B: full\n");
}

TEST(GithubTest, NoNameBeginsACommand) {
  const std::string text = Written(ReportFormat::kGithub, {sample::HostileRun()});
  EXPECT_THAT(LinesOf(text), Each(AnyOf(StartsWith("::error "), StartsWith("::notice "),
                                        StartsWith("::warning "))));
  // Five of each name, and what all of them have at one call site.
  EXPECT_THAT(LinesOf(text), SizeIs(10 * 5 + 1));
  EXPECT_THAT(text, HasSubstr("file=%250A%3A%3Aerror%3A%3Az%2Ctitle=x%3Ay"));
  EXPECT_THAT(text, AllOf(Not(HasSubstr("\r")), Not(HasSubstr("\x1b"))));
}

nlohmann::json Gitlab(const RunResult& run) {
  return nlohmann::json::parse(Written(ReportFormat::kGitlab, {run}));
}

TEST(GitlabTest, IsAnIssueWhereItWasAllocated) {
  const nlohmann::json issue = Gitlab(sample::RunOf({sample::FailingUncoveredTest()})).at(0);
  EXPECT_EQ(issue["description"],
            "128 B in 2 blocks lost by net::Pool::Grow in HttpTest.KeepAlive");
  EXPECT_EQ(issue["check_name"], "leakgate.lost");
  EXPECT_EQ(issue["severity"], "major");
  EXPECT_EQ(issue["location"]["path"], "src/net/pool.cc");
  EXPECT_EQ(issue["location"]["lines"]["begin"], 88);
}

TEST(GitlabTest, HasEachFingerprintOnce) {
  const nlohmann::json issues = nlohmann::json::parse(
      Written(ReportFormat::kGitlab, {sample::RunOfEverything(), sample::RunOfEverything()}));
  std::set<std::string> fingerprints;
  for (const nlohmann::json& issue : issues) fingerprints.insert(issue["fingerprint"]);
  EXPECT_EQ(fingerprints.size(), issues.size());
}

TEST(GitlabTest, GradesBySeverity) {
  std::map<std::string, std::string> severities;
  for (const nlohmann::json& issue : Gitlab(sample::RunOfEverything())) {
    severities[issue["check_name"]] = issue["severity"];
  }
  EXPECT_EQ(severities["leakgate.double_free"], "critical");
  EXPECT_EQ(severities["leakgate.steady"], "major");
  EXPECT_EQ(severities["leakgate.inconclusive"], "major");
  EXPECT_EQ(severities["leakgate.unconfirmed"], "info");
}

TEST(MarkdownTest, BeginsWithTheVerdict) {
  EXPECT_THAT(Written(ReportFormat::kMarkdown, {sample::RunOfEverything()}),
              StartsWith("## leakgate: over budget\n"));
  EXPECT_EQ(Written(ReportFormat::kMarkdown, {sample::PassingRun()}),
            "## leakgate: pass\n\n- <code>build/http&#95;test</code>: 2 tests: 2 pass\n");
  EXPECT_EQ(Written(ReportFormat::kMarkdown, {}), "## leakgate: nothing was run\n\n");
}

TEST(MarkdownTest, TellsTheWorstOfSeveralRunsAndCountsThePassed) {
  RunResult inconclusive = sample::RunOf({sample::InconclusiveTest("A.B", "the map was full")});
  inconclusive.verdict = Verdict::kInconclusive;
  const std::string text =
      Written(ReportFormat::kMarkdown, {sample::PassingRun(), inconclusive, sample::PassingRun()});
  EXPECT_THAT(text, StartsWith("## leakgate: inconclusive\n"));
  EXPECT_THAT(text, HasSubstr("- 2 programs passed\n"));
  EXPECT_THAT(text, HasSubstr("- inconclusive: A.B: the map was full\n"));
}

TEST(MarkdownTest, SaysThatTheTestsFailWhereTheGatePasses) {
  RunResult run = sample::PassingRun();
  run.exit_code = run.program.exit_code.emplace(1);
  EXPECT_THAT(Written(ReportFormat::kMarkdown, {run}), HasSubstr("the tests fail: "));
}

TEST(MarkdownTest, FoldsTheStackOfEachFinding) {
  const std::string text =
      Written(ReportFormat::kMarkdown, {sample::RunOf({sample::FailingTest()})});
  EXPECT_THAT(text, HasSubstr("| <code>HttpTest.KeepAlive</code> | net | 128 B in 2 blocks "
                              "outstanding | budget 0 B (budgets/net.leakgate.json:14) |\n"));
  EXPECT_THAT(text, HasSubstr("\n<details><summary>128 B in 2 blocks outstanding by "
                              "net::Pool::Grow in HttpTest.KeepAlive, "
                              "<code>src/net/pool.cc:88</code></summary>\n\n<pre>\n"));
  EXPECT_THAT(text, HasSubstr("  &gt; net::Pool::Grow(unsigned long)"));
}

TEST(MarkdownTest, FitsACommentHoweverMuchIsFound) {
  constexpr std::size_t kLongestComment = 65536;
  std::vector<WindowResult> windows;
  for (int i = 0; i < 300; ++i) {
    windows.push_back(sample::FailingTest(std::string(500, '|') + std::to_string(i)));
    Finding& finding = windows.back().findings.front();
    finding.stack.Edit()[*finding.user_frame].line = i;
    windows.push_back(sample::InconclusiveTest("A.B" + std::to_string(i), std::string(500, '*')));
  }
  const std::string text = Written(ReportFormat::kMarkdown, {sample::RunOf(windows)});
  EXPECT_THAT(text.size(), Le(kLongestComment));
  EXPECT_THAT(text, HasSubstr("more causes not shown here; all are in the JSON report.\n"));
}

TEST(MarkdownTest, NoNameIsMarkup) {
  const std::string text = Written(ReportFormat::kMarkdown, {sample::HostileRun()});
  for (const char* const markup :
       {"**bold**", "@team", "[a](", "<b>", "\x1b", "`code`", "http://"}) {
    EXPECT_THAT(text.substr(0, text.find("<details>")), Not(HasSubstr(markup))) << markup;
    EXPECT_THAT(text.substr(text.rfind("</details>")), Not(HasSubstr(markup))) << markup;
  }
  EXPECT_THAT(text, Not(HasSubstr("</pre></details>")));
}

TEST(ReportTextTest, XmlKeepsNewlinesAndNothingElseThatControls) {
  EXPECT_EQ(XmlText("a\n\tb\r\x01 <&>\""), "a\n\tb\\x0d\\x01 &lt;&amp;&gt;&quot;");
  EXPECT_EQ(XmlAttribute("a\n\tb"), "a&#10;&#9;b");
  EXPECT_EQ(XmlText("\xEF\xBF\xBE\xC2\x85\xff"), "\xEF\xBF\xBD\\xc2\\x85\\xff");
}

TEST(ReportTextTest, MarkdownIsTextOnly) {
  EXPECT_EQ(MarkdownText("a|b*c_d"), "a&#124;b&#42;c&#95;d");
  EXPECT_EQ(MarkdownText("see https://x, www.y"), "see https&#58;//x, &#119;ww.y");
  EXPECT_EQ(MarkdownText("net::Pool, a.cc:3"), "net::Pool, a.cc:3");
}

TEST(ReportTextTest, UrisAreEscapedByByte) {
  EXPECT_EQ(UriOf("/a/b c.cc"), "file:///a/b%20c.cc");
  EXPECT_EQ(UriOf("\xC3\xA9:?#"), "%C3%A9%3A%3F%23");
}

}  // namespace
}  // namespace leakgate
