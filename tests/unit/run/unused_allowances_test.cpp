#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "runner/budget/read_budget.h"
#include "runner/result/gtest_flags.h"
#include "runner/run/run_outcome.h"
#include "tests/unit/report/sample_results.h"

namespace leakgate {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::vector<std::filesystem::path> kGiven = {"net.leakgate.json"};

// Of two allowances, on the lines 2 and 3.
BudgetSet TwoAllowances(const std::string& members_of_the_second = "") {
  const Expected<BudgetFile> file = ParseBudgetFile("net.leakgate.json", R"({"component": "net",
    "allowances": [{"stack": ["net::Pool::*", "main"], "reason": "x"},
    {"stack": ["net::Cache::Put"])" + members_of_the_second + R"(, "reason": "y"}]})");
  if (!file) ADD_FAILURE() << file.error().message;
  return {{file.value_or(BudgetFile{})}, "net_test"};
}

WindowResult WindowAllowedBy(const std::string& place) {
  WindowResult window = sample::PassingTest("A.B");
  window.findings = {sample::RetainedFinding(Disposition::kAllowed)};
  window.findings[0].allowance = place;
  return window;
}

TEST(UnusedAllowancesTest, AreAllWhereNothingWasAllowed) {
  EXPECT_THAT(
      UnusedAllowances(TwoAllowances(), kGiven, {sample::PassingTest("A.B")}),
      ElementsAre(
          "net.leakgate.json:2: the allowance for net::Pool::*, main was not used; remove "
          "it",
          "net.leakgate.json:3: the allowance for net::Cache::Put was not used; remove it"));
}

TEST(UnusedAllowancesTest, AreNotThoseThatAnyFindingIsAllowedBy) {
  EXPECT_THAT(
      UnusedAllowances(TwoAllowances(), kGiven,
                       {sample::PassingTest("A.B"), WindowAllowedBy("net.leakgate.json:2")}),
      ElementsAre(
          "net.leakgate.json:3: the allowance for net::Cache::Put was not used; remove it"));
}

TEST(UnusedAllowancesTest, AreNoneWhereEachIsUsed) {
  EXPECT_THAT(UnusedAllowances(
                  TwoAllowances(), kGiven,
                  {WindowAllowedBy("net.leakgate.json:2"), WindowAllowedBy("net.leakgate.json:3")}),
              IsEmpty());
}

TEST(UnusedAllowancesTest, LeaveOutWhatHasExpiredForThatFailsAnyway) {
  EXPECT_THAT(UnusedAllowances(TwoAllowances(R"(, "expires": "2020-01-31")"), kGiven,
                               {WindowAllowedBy("net.leakgate.json:2")}),
              IsEmpty());
}

// Then more was left than it permits: it is needed, and the test fails.
TEST(UnusedAllowancesTest, LeaveOutWhatMatchesBlocksThatCount) {
  WindowResult window = sample::PassingTest("A.B");
  window.findings = {sample::PoolFinding()};
  EXPECT_THAT(
      UnusedAllowances(TwoAllowances(), kGiven, {window}),
      ElementsAre(
          "net.leakgate.json:3: the allowance for net::Cache::Put was not used; remove it"));
}

TEST(UnusedAllowancesTest, LeaveOutWhatADirectoryHasForTestsOfOtherBinaries) {
  const std::vector<WindowResult> windows = {sample::PassingTest("A.B"),
                                             WindowAllowedBy("net.leakgate.json:2")};
  const std::string of_others = R"(, "tests": ["Other.*"])";
  EXPECT_THAT(UnusedAllowances(TwoAllowances(of_others), {"src"}, windows), IsEmpty());
  EXPECT_THAT(UnusedAllowances(TwoAllowances(of_others), kGiven, windows), testing::SizeIs(1));
  EXPECT_THAT(UnusedAllowances(TwoAllowances(R"(, "tests": ["A.*"])"), {"src"}, windows),
              testing::SizeIs(1));
}

// Sets a variable, or none, for the time of a test.
class VariableGuard {
 public:
  VariableGuard(const char* name, const char* value) : name_(name) {
    if (const char* const before = std::getenv(name)) before_ = before;
    if (value == nullptr) {
      unsetenv(name);
    } else {
      setenv(name, value, 1);
    }
  }
  VariableGuard(const VariableGuard&) = delete;
  VariableGuard& operator=(const VariableGuard&) = delete;
  ~VariableGuard() {
    unsetenv(name_);
    if (before_) setenv(name_, before_->c_str(), 1);
  }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

class RunsAllTestsTest : public testing::Test {
 private:
  VariableGuard filter_{"GTEST_FILTER", nullptr};
  VariableGuard shards_{"GTEST_TOTAL_SHARDS", nullptr};
};

TEST_F(RunsAllTestsTest, WhereNothingChoosesAmongThem) {
  EXPECT_TRUE(RunsAllTests({}));
  EXPECT_TRUE(RunsAllTests({"--gtest_repeat=2", "--gtest_shuffle", "input.txt"}));
}

TEST_F(RunsAllTestsTest, NotWithAFilter) {
  EXPECT_FALSE(RunsAllTests({"--verbose", "--gtest_filter=A.*"}));
}

TEST_F(RunsAllTestsTest, NotWithAFileOfFlags) {
  EXPECT_FALSE(RunsAllTests({"--gtest_flagfile=flags.txt"}));
}

TEST_F(RunsAllTestsTest, NotWithAFilterInTheEnvironment) {
  const VariableGuard filter("GTEST_FILTER", "A.*");
  EXPECT_FALSE(RunsAllTests({}));
}

TEST_F(RunsAllTestsTest, NotInOneOfSeveralShards) {
  const VariableGuard shards("GTEST_TOTAL_SHARDS", "2");
  EXPECT_FALSE(RunsAllTests({}));
}

}  // namespace
}  // namespace leakgate
