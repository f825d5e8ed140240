#include <gmock/gmock.h>

#include "runner/budget/apply_limits.h"
#include "runner/budget/read_budget.h"
#include "runner/cli/commands/budget.h"
#include "tests/unit/budget/good_budget.h"

namespace leakgate {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::chrono::year_month_day kDayOfExplaining = *ParseDate("2026-03-10");

std::string Explain(std::vector<BudgetFile> files, const TestId& test) {
  const BudgetSet set(std::move(files), "net_test", kDayOfExplaining);
  const Expected<std::string> text = ExplainText(set, test, kDayOfExplaining);
  return text ? *text : text.error().message;
}

TEST(ExplainTextTest, TellsTheDefaultPolicyWhereNoFileCoversTheTest) {
  EXPECT_EQ(Explain({}, {"A.One", ""}),
            "A.One\n"
            "file: none covers it\n"
            "limits: none\n"
            "judged at the test's end, by default: lost blocks fail the test; retained ones fail "
            "it if they grow\n"
            "  when it is repeated alone (after the program has ended)\n"
            "charged with what all threads of the process allocate meanwhile\n");
}

TEST(ExplainTextTest, TellsEachLimitWithItsPlaceAndReason) {
  const std::string text =
      Explain({GoodBudget("net.leakgate.json", R"({"component": "net", "owner": "team-net",
  "limits": {"test": {"outstanding": {"bytes": 64}, "threads": 1}},
  "overrides": [{"tests": ["A.*"], "limits": {"test": {"threads": 2}}, "reason": "a pool"}]})")},
              {"A.One", "/src/a.cc"});
  EXPECT_THAT(text, HasSubstr("source: /src/a.cc\n"));
  EXPECT_THAT(text, HasSubstr("file: net.leakgate.json (component net, owner team-net)\n"));
  EXPECT_THAT(text, HasSubstr("net.leakgate.json:2\n"));
  EXPECT_THAT(text, HasSubstr("net.leakgate.json:3  \"a pool\"\n"));
  EXPECT_THAT(text, HasSubstr("literally: what is outstanding then fails the test"));
}

TEST(ExplainTextTest, RanksTheFilesThatCoverTheTest) {
  const std::string text = Explain({GoodBudget("/r/a/a.leakgate.json", R"({"component": "a"})"),
                                    GoodBudget("/r/a/b/b.leakgate.json", R"({"component": "b"})"),
                                    GoodBudget("/ci/c.leakgate.json", R"({"component": "c"})")},
                                   {"A.One", "/r/a/b/one.cc"});
  EXPECT_THAT(text, HasSubstr("  wins:  /r/a/b/b.leakgate.json: its directory, 4 deep, contains "
                              "the test's source file\n"));
  EXPECT_THAT(text, HasSubstr("  loses: /r/a/a.leakgate.json: its directory, 3 deep, contains"));
  EXPECT_THAT(text, HasSubstr("  loses: /ci/c.leakgate.json: its directory does not contain"));
}

TEST(ExplainTextTest, TellsWhatBecameOfEachOverride) {
  const std::string text =
      Explain({GoodBudget("net.leakgate.json", R"({"component": "net", "overrides": [
  {"tests": ["A.*"], "limits": {"test": {"threads": 2}}, "reason": "one"},
  {"tests": ["B.*"], "limits": {"test": {"threads": 3}}, "reason": "two"},
  {"tests": ["A.*"], "free_by": "suite", "reason": "three", "expires": "2026-03-09"},
  {"tests": ["A.*"], "limits": {"suite": {"peak": {"bytes": 4}}}, "reason": "four"},
  {"tests": ["*"], "limits": {"test": {"threads": 5}}, "free_by": "program", "reason": "five",
   "expires": "2026-12-31"}]})")},
              {"A.One", ""});
  EXPECT_THAT(text,
              HasSubstr("  net.leakgate.json:2: loses threads to line 6  \"one\"\n"
                        "  net.leakgate.json:3: does not match: B.*\n"
                        "  net.leakgate.json:4: expired on 2026-03-09\n"
                        "  net.leakgate.json:5: matches, but is for suites or processes  \"four\"\n"
                        "  net.leakgate.json:6: sets threads, sets free_by; until "
                        "2026-12-31  \"five\"\n"));
  EXPECT_THAT(text, HasSubstr("judged at the program's end"));
}

TEST(ExplainTextTest, TellsTheAllowancesThatApply) {
  const std::string text =
      Explain({GoodBudget("net.leakgate.json", R"({"component": "net", "allowances": [
  {"stack": ["net::Grow", "net::*"], "bytes": 64, "blocks": 1, "reason": "one pool"},
  {"stack": ["b"], "tests": ["B.*"], "reason": "b"},
  {"stack": ["c"], "reason": "c"}]})")},
              {"A.One", ""});
  EXPECT_THAT(text, HasSubstr("  net.leakgate.json:2: net::Grow < net::*: at most 64 bytes, 1 "
                              "block  \"one pool\"\n"
                              "  net.leakgate.json:4: c: any amount  \"c\"\n"));
  EXPECT_THAT(text, Not(HasSubstr("net.leakgate.json:3")));
}

TEST(ExplainTextTest, FailsWhereTwoFilesClaimTheTest) {
  EXPECT_THAT(Explain({GoodBudget("a.json", R"({"component": "a"})"),
                       GoodBudget("b.json", R"({"component": "b"})")},
                      {"A.One", ""}),
              HasSubstr("both cover A.One"));
}

TEST(FindTestTest, ProposesTheNearestName) {
  const std::vector<TestId> tests = {{"HttpTest.Get", "a.cc"}, {"HttpTest.Put", "b.cc"}};
  EXPECT_EQ(FindTest("HttpTest.Put", tests)->source_file, "b.cc");
  EXPECT_EQ(FindTest("HttpTest.Gte", tests).error().message,
            "no test 'HttpTest.Gte' in the binary; did you mean 'HttpTest.Get'?");
  EXPECT_EQ(FindTest("X.Y", tests).error().message,
            "no test 'X.Y' in the binary; list them with --gtest_list_tests");
}

TEST(ExplainTextTest, TellsTheProcessesThatAreJudgedAndTheirLimits) {
  const std::string text =
      Explain({GoodBudget("net.leakgate.json", R"({"component": "net", "processes": ["helper*",
  "server"],
  "limits": {"process": {"outstanding": {"bytes": 64}}}})")},
              {"A.One", ""});
  EXPECT_THAT(text, HasSubstr("processes that it starts, each judged at its end:\n"));
  EXPECT_THAT(text, HasSubstr("  helper* "));
  EXPECT_THAT(text, HasSubstr(" net.leakgate.json:2\ntheir limits:\n"));
  EXPECT_THAT(text, HasSubstr(" net.leakgate.json:3\n"));
}

}  // namespace
}  // namespace leakgate
