// Files of results, good ones and hostile ones.
#include "runner/results/result_file.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runner/base/path_text.h"
#include "runner/results/merged_runs.h"
#include "tests/support/processor_time.h"
#include "tests/unit/results/reports.h"

namespace leakgate {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class ResultFileTest : public merging::ReportsTest {
 protected:
  Expected<std::vector<RunResult>> Scan(const std::string& text) const {
    std::vector<RunResult> runs;
    const Expected<void> scanned =
        ReadResults(Write("report.json", text),
                    [&](RunResult&& run, const RunPlace&) { runs.push_back(std::move(run)); });
    if (!scanned) return Unexpected(scanned.error());
    return runs;
  }
  // What is said of `text`, behind the file's name.
  std::string ErrorOf(const std::string& text) const {
    const auto runs = Scan(text);
    if (runs) return "no error";
    EXPECT_EQ(runs.error().exit_code, ExitCode::kUsage);
    const std::string file = PathText(directory_ / "report.json");
    EXPECT_THAT(runs.error().message, StartsWith(file));
    return runs.error().message.substr(file.size());
  }
};

std::string Replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), by);
}

TEST_F(ResultFileTest, ReadsWhatMergingAsksOfARun) {
  RunResult run = merging::FailingRun();
  run.arguments = {"--gtest_filter=Http*"};
  run.shard = Shard{1, 4};
  const auto runs = Scan(ToJson(run));
  ASSERT_TRUE(runs) << runs.error().message;
  ASSERT_EQ(runs->size(), 1u);
  const RunResult& read = runs->front();
  EXPECT_EQ(read.binary, "build/http_test");
  EXPECT_EQ(read.arguments, run.arguments);
  EXPECT_EQ(read.verdict, Verdict::kOverBudget);
  EXPECT_EQ(read.exit_code, 1);
  EXPECT_EQ(read.shard, (Shard{1, 4}));
  ASSERT_EQ(read.windows.size(), 1u);
  EXPECT_EQ(read.windows[0].name, "HttpTest.KeepAlive");
  EXPECT_EQ(read.windows[0].outstanding, run.windows[0].outstanding);
  EXPECT_EQ(read.windows[0].violations.size(), run.windows[0].violations.size());
}

TEST_F(ResultFileTest, ReadsEachRunOfAMergedReport) {
  const auto runs = Scan(merging::MergedText({merging::PassingRun("a"), merging::PassingRun("b")}));
  ASSERT_TRUE(runs) << runs.error().message;
  ASSERT_EQ(runs->size(), 2u);
  EXPECT_EQ((*runs)[1].binary, "b");
}

TEST_F(ResultFileTest, ARunIsTheSameOnItsOwnAndInAMergedReport) {
  const auto contents = [&](const std::string& text) {
    std::vector<RunContent> found;
    EXPECT_TRUE(ReadResults(Write("report.json", text), [&](RunResult&&, const RunPlace& place) {
      found.push_back(place.content);
    }));
    return found;
  };
  const auto alone = contents(ToJson(merging::FailingRun()));
  const auto merged = contents(merging::MergedText({merging::PassingRun(), merging::FailingRun()}));
  ASSERT_TRUE(alone.size() == 1 && merged.size() == 2);
  EXPECT_EQ(alone.front(), merged.back());
  EXPECT_NE(alone.front(), merged.front());
}

TEST_F(ResultFileTest, ARunIsTheSameHoweverItsReportIsWritten) {
  const auto content = [&](const nlohmann::json& report) {
    RunContent found;
    EXPECT_TRUE(ReadResults(Write("report.json", report.dump()),
                            [&](RunResult&&, const RunPlace& place) { found = place.content; }));
    return found;
  };
  const std::string text = ToJson(merging::FailingRun());
  nlohmann::json other = nlohmann::json::parse(text);  // its keys are sorted
  const RunContent sorted = content(other);
  EXPECT_EQ(sorted, ContentOf(Scan(text)->front()));
  other["windows"][0]["findings"][0]["stack"][0]["line"] = 1;
  EXPECT_NE(content(other), sorted);
}

TEST_F(ResultFileTest, ReadsWindowsOfEveryKind) {
  RunResult run = merging::PassingRun();
  for (const WindowKind kind : {WindowKind::kProgram, WindowKind::kSuite, WindowKind::kProcess}) {
    run.windows.push_back(run.windows[0]);
    run.windows.back().kind = kind;
  }
  const auto runs = Scan(ToJson(run));
  ASSERT_TRUE(runs) << runs.error().message;
  EXPECT_EQ(runs->front().windows[3].kind, WindowKind::kProcess);
}

TEST_F(ResultFileTest, NamesThePlaceOfAWrongValue) {
  const std::string text = ToJson(merging::PassingRun());
  EXPECT_THAT(ErrorOf(Replaced(text, "\"verdict\": \"pass\"", "\"verdict\": 7")),
              HasSubstr(":5:13: a string is expected here"));
  EXPECT_THAT(ErrorOf(Replaced(text, "\"verdict\": \"pass\"", "\"verdict\": \"fine\"")),
              HasSubstr(":5:13: 'fine' is no word"));
  EXPECT_THAT(ErrorOf(Replaced(text, "\"exit_code\": 0", "\"exit_code\": 1e99")),
              HasSubstr("a whole number"));
  EXPECT_THAT(ErrorOf(Replaced(text, "\"exit_code\": 0", "\"exit_code\": -1")),
              HasSubstr("a number from 0 on"));
  EXPECT_THAT(ErrorOf(Replaced(text, "\"windows\": [", "\"windows\": {")), HasSubstr("an array"));
}

TEST_F(ResultFileTest, NamesAKeyThatIsMissingOrStandsTwice) {
  const std::string text = ToJson(merging::PassingRun());
  EXPECT_THAT(ErrorOf(Replaced(text, "\"exit_code\": 0,\n \"program\"", "\"program\"")),
              HasSubstr("lacks \"exit_code\""));
  EXPECT_THAT(ErrorOf(Replaced(text, "\"verdict\": \"pass\"",
                               "\"verdict\": \"failed\", \"verdict\": \"pass\"")),
              HasSubstr("\"verdict\" stands twice"));
}

TEST_F(ResultFileTest, NamesAnotherVersionOfTheSchema) {
  const std::string text = ToJson(merging::PassingRun());
  EXPECT_THAT(ErrorOf(Replaced(text, "report-2", "report-9")),
              HasSubstr(":2:12: the schema 'leakgate-report-9' is neither leakgate-report-2"));
  EXPECT_THAT(ErrorOf("{\"schema\": \"leakgate-merged-7\"}"), HasSubstr("leakgate-merged-7"));
}

TEST_F(ResultFileTest, SaysOfOtherFilesThatTheyAreNoReports) {
  EXPECT_THAT(ErrorOf("[1, 2]"), HasSubstr("not a report of leakgate's"));
  EXPECT_THAT(ErrorOf("{\"version\": 1}"), HasSubstr("not a report of leakgate's"));
  EXPECT_THAT(ErrorOf("<xml/>"), HasSubstr(":1:1: not a report of leakgate's"));
}

TEST_F(ResultFileTest, SaysOfAFileThatWasCutOffAnywhereWhereItEnds) {
  for (const std::string& text :
       {ToJson(merging::FailingRun()),
        merging::MergedText({merging::FailingRun(), merging::PassingRun()})}) {
    for (std::size_t size = 0; size < text.size() - 1; size += 1 + size / 97) {
      EXPECT_THAT(ErrorOf(text.substr(0, size)), HasSubstr("cut off")) << size;
    }
  }
}

TEST_F(ResultFileTest, RefusesAMergedReportWithoutRunsAndTextBehindIt) {
  EXPECT_THAT(ErrorOf("{\"schema\": \"leakgate-merged-1\"}"), HasSubstr("lacks \"runs\""));
  EXPECT_THAT(ErrorOf(ToJson(merging::PassingRun()) + "x"), HasSubstr("after the end"));
}

TEST_F(ResultFileTest, SurvivesEveryByteThatIsChanged) {
  const std::string text = ToJson(merging::FailingRun());
  for (std::size_t i = 0; i < text.size(); i += 7) {
    for (const char byte : {'\0', '"', '{', '9', '\xFF', '\\'}) {
      std::string hostile = text;
      hostile[i] = byte;
      (void)Scan(hostile);  // an error or not, and no crash
    }
  }
}

TEST_F(ResultFileTest, TellsAFileThatChangedWhileItWasMerged) {
  RunPlace place;
  const auto path = Write("report.json", ToJson(merging::PassingRun()));
  ASSERT_TRUE(ReadResults(path, [&](RunResult&&, const RunPlace& at) { place = at; }));
  const Expected<RunResult> again = ReadResultAt(place);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->binary, "build/http_test");
  Write("report.json", Replaced(ToJson(merging::PassingRun()), "http", "sftp"));
  const Expected<RunResult> read = ReadResultAt(place);
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message, HasSubstr("changed while it was merged"));
}

std::string Records(std::string_view record, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text.append(i == 0 ? "" : ",").append(record);
  return text;
}

constexpr std::string_view kViolation = R"({"metric": "lost_bytes", "actual": 1, "limit": 0})";
constexpr std::string_view kFinding =
    R"({"bytes": 0, "blocks": 0, "kind": "new", "disposition": "steady", "stack_end": "outermost",
        "stack": []})";
const std::string kFreeError =
    fmt::format(R"({{"text": "", "freed_at": {0}, "made_at": {0}}})", kFinding);

TEST_F(ResultFileTest, RefusesMoreRecordsThanARunCanHave) {
  const std::string text = ToJson(merging::PassingRun());
  const auto with = [&](const std::string& key, std::string_view record, std::size_t count) {
    const std::string empty = "\"" + key + "\": []";
    const std::string window = "\"kind\":";
    const std::string array = "\"" + key + "\": [" + Records(record, count) + "]";
    return text.find(empty) != std::string::npos ? Replaced(text, empty, array)
                                                 : Replaced(text, window, array + "," + window);
  };
  EXPECT_EQ(ErrorOf(with("violations", kViolation, kMostViolations)), "no error");
  EXPECT_THAT(ErrorOf(with("violations", kViolation, kMostViolations + 1)),
              HasSubstr("more than 1024 of these"));
  EXPECT_EQ(ErrorOf(with("free_errors", kFreeError, kMostFreeErrors)), "no error");
  EXPECT_THAT(ErrorOf(with("free_errors", kFreeError, kMostFreeErrors + 1)),
              HasSubstr("more than 4096 of these"));
  for (const char* key : {"reasons", "failures", "arguments"}) {
    EXPECT_THAT(ErrorOf(with(key, "\"\"", kMostRecords + 1)),
                HasSubstr("more than 1000000 of these; run fewer tests at once, as in shards, and "
                          "merge their reports"))
        << key;
  }
}

TEST_F(ResultFileTest, RefusesABinaryOfALongerPathThanThereCanBe) {
  EXPECT_EQ(ErrorOf(ToJson(merging::PassingRun(std::string(4096, 'b')))), "no error");
  EXPECT_THAT(ErrorOf(ToJson(merging::PassingRun(std::string(4097, 'b')))),
              HasSubstr("a path of more than 4096 bytes; run again what wrote it"));
}

TEST_F(ResultFileTest, TakesNoRunApartThatWouldFillTheMemory) {
  const std::string text = ToJson(merging::PassingRun());
  std::string lists;
  for (int i = 0; i < 20; ++i) {
    lists += fmt::format("\"more_{}\": [{}],", i, Records("{}", 900'000));
  }
  EXPECT_THAT(ErrorOf(Replaced(text, "\"kind\":", lists + "\"kind\":")),
              HasSubstr("the run report that begins at byte 0 has more values than the 16777216 "
                        "that can be taken apart at most; run its tests in shards"));
  // What leakgate does not know takes no memory.
  EXPECT_EQ(ErrorOf(Replaced(text, "\"binary\":", lists + "\"binary\":")), "no error");
}

// Each window for a reason of its own, which the run does not tell.
TEST_F(ResultFileTest, ToMergeARunCostsAsMuchForEachWindowHoweverManyThereAre) {
  const auto make = [](std::size_t windows) {
    RunResult run;
    run.binary = "build/http_test";
    for (std::size_t i = 0; i < windows; ++i) {
      run.reasons.push_back(fmt::format("reason {}", i));
      WindowResult& window = run.windows.emplace_back();
      window.name = fmt::format("Test.Of{}", i);
      window.reason = fmt::format("because {}", i);
      window.verdict = i % 2 == 0 ? Verdict::kInconclusive : Verdict::kOverBudget;
    }
    return run;
  };
  const double growth = test::GrowthOfCost(4'000, make, [](const RunResult& run) {
    MergedRuns runs;
    runs.Add(RunResult(run), {});
    (void)MergeSummary(runs, VerdictOn(runs, std::nullopt), {}, {}, {Colour::kOff, ""});
  });
  EXPECT_LT(growth, test::kMostGrowth);
}

}  // namespace
}  // namespace leakgate
