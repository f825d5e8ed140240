
#include <gmock/gmock.h>

#include "tests/unit/cli/parsed_command.h"

namespace leakgate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(ResultOptionsTest, MergesResultsIntoReports) {
  const auto merge = Parse<MergeCommand>(
      {"merge", "a.json", "dir", "-o", "m.json", "--report", "json=n.json", "--expect", "4"});
  EXPECT_THAT(merge.results, ElementsAre("a.json", "dir"));
  EXPECT_THAT(merge.reports, ElementsAre(ReportRequest{ReportFormat::kJson, "m.json"},
                                         ReportRequest{ReportFormat::kJson, "n.json"}));
  EXPECT_EQ(merge.expected, 4);
  EXPECT_EQ(Parse<MergeCommand>({"merge", "a", "--expect-shards", "2"}).expected, 2);
}

TEST(ResultOptionsTest, TakesOptionsBeforeTheResultsToo) {
  const auto merge = Parse<MergeCommand>({"merge", "--report", "html=m.html", "a.json", "b.json"});
  EXPECT_THAT(merge.results, ElementsAre("a.json", "b.json"));
  EXPECT_THAT(merge.reports, ElementsAre(ReportRequest{ReportFormat::kHtml, "m.html"}));
}

TEST(ResultOptionsTest, ABaselineIsForThePageOfAMerge) {
  const auto merge =
      Parse<MergeCommand>({"merge", "a", "--baseline", "b.json", "--report", "html=m.html"});
  EXPECT_EQ(merge.baseline, "b.json");
  for (const std::vector<std::string>& reports :
       {std::vector<std::string>{}, {"--report", "junit=m.xml"}, {"-o", "m.json"}}) {
    std::vector<std::string> arguments = {"merge", "a", "--baseline", "b.json"};
    arguments.insert(arguments.end(), reports.begin(), reports.end());
    EXPECT_THAT(ErrorOf(arguments),
                HasSubstr("--baseline b.json: only the HTML report of a merge compares"));
  }
}

TEST(ResultOptionsTest, AHistoryIsForThePage) {
  const auto merge =
      Parse<MergeCommand>({"merge", "a", "--history", "h.sqlite", "--report", "html=m.html"});
  EXPECT_EQ(merge.history, "h.sqlite");
  EXPECT_THAT(ErrorOf({"merge", "a", "--history", "h.sqlite", "-o", "m.json"}),
              HasSubstr("--history h.sqlite: only the HTML report shows earlier results"));
  EXPECT_THAT(ErrorOf({"run", "--history", "h.sqlite", "--", "true"}),
              HasSubstr("--history h.sqlite: only the HTML report shows earlier results"));
}

TEST(ResultOptionsTest, TakesAResultForAPathWhateverItBeginsWith) {
  EXPECT_THAT(Parse<MergeCommand>({"merge", "--", "-a.json"}).results, ElementsAre("./-a.json"));
}

TEST(ResultOptionsTest, SaysWhatIsWrongWithAMerge) {
  EXPECT_THAT(ErrorOf({"merge"}), HasSubstr("no results to merge"));
  EXPECT_THAT(ErrorOf({"merge", "a", "--expect", "0"}), HasSubstr("--expect '0'"));
  EXPECT_THAT(ErrorOf({"merge", "a", "--expect", "4x"}), HasSubstr("--expect '4x'"));
  EXPECT_THAT(ErrorOf({"merge", "a", "--report", "m.json"}), HasSubstr("names no file"));
  EXPECT_THAT(ErrorOf({"merge", "a", "--surprise"}), HasSubstr("--surprise"));
}

TEST(ResultOptionsTest, AddsToAHistory) {
  const auto add = Parse<HistoryAddCommand>({"history", "add", "h.sqlite", "a.json", "b.json",
                                             "--commit", "3f2a", "--time", "2026-01-31T12:00:00Z"});
  EXPECT_EQ(add.database, "h.sqlite");
  EXPECT_THAT(add.results, ElementsAre("a.json", "b.json"));
  EXPECT_EQ(add.commit, "3f2a");
  EXPECT_EQ(add.time, "2026-01-31T12:00:00Z");
}

TEST(ResultOptionsTest, ShowsAHistoryAndItsTrends) {
  const auto show = Parse<HistoryShowCommand>({"history", "show", "h", "--component", "net"});
  EXPECT_EQ(show.component, "net");
  EXPECT_EQ(show.test, std::nullopt);
  const auto trend = Parse<HistoryTrendCommand>({"history", "trend", "h", "--call-site", "--json"});
  EXPECT_EQ(trend.of, TrendOf::kCallSite);
  EXPECT_EQ(trend.output, OutputForm::kJson);
  EXPECT_EQ(Parse<HistoryTrendCommand>({"history", "trend", "h"}).of, TrendOf::kComponent);
}

TEST(ResultOptionsTest, SaysWhatIsWrongWithAHistory) {
  EXPECT_THAT(ErrorOf({"history"}), HasSubstr("there are add, show and trend"));
  EXPECT_THAT(ErrorOf({"history", "show"}), HasSubstr("no history"));
  EXPECT_THAT(ErrorOf({"history", "add", "h"}), HasSubstr("no results to add"));
  EXPECT_THAT(ErrorOf({"history", "trend", "h", "--test", "--component"}),
              HasSubstr("exclude each other"));
}

TEST(ResultOptionsTest, HelpNamesEveryOptionAndFitsATerminal) {
  const std::string merge = Parse<PrintCommand>({"merge", "--help"}).text;
  for (const char* word :
       {"-o", "--report", "--expect", "--baseline", "  0 ", "  1 ", "  2 ", "  3 "}) {
    EXPECT_THAT(merge, HasSubstr(word));
  }
  EXPECT_THAT(merge, testing::Not(testing::ContainsRegex("[^\n]{81}")));
}

}  // namespace
}  // namespace leakgate
