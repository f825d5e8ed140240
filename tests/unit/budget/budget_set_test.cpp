// Which file wins, and what it permits a test.
#include "runner/budget/budget_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/command.h"
#include "tests/unit/budget/good_budget.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;

using testing::ElementsAre;
using testing::IsEmpty;

// A file that limits the outstanding bytes of `tests`.
BudgetFile Allowing(int bytes, const fs::path& path, const std::string& tests = "*") {
  return GoodBudget(path, R"({"component": ")" + path.stem().stem().string() + R"(", "tests": [")" +
                              tests + R"("], "limits": {"test": {"outstanding": {"bytes": )" +
                              std::to_string(bytes) + "}}}}");
}

AppliedBudget ForTest(const BudgetSet& set, const TestId& test) {
  return ValueOf(set.ForTest(test));
}

std::string ErrorOf(const Expected<AppliedBudget>& budget) {
  if (budget) return "no error";
  EXPECT_EQ(budget.error().exit_code, ExitCode::kUsage);
  return budget.error().message;
}

TEST(BudgetSetTest, LimitsNothingWithoutAFile) {
  const AppliedBudget budget = ForTest(BudgetSet({}, "net_test"), {"A.One", ""});
  EXPECT_EQ(budget, AppliedBudget{});
  EXPECT_TRUE(UsesDefaultPolicy(budget));
}

TEST(BudgetSetTest, KeepsTheDefaultPolicyWhereAFileLimitsGrowthOnly) {
  const BudgetSet set({GoodBudget("net.leakgate.json", R"({"component": "net", "limits": {"test":
                           {"growth": {"blocks": 3}}}})")},
                      "net_test");
  const AppliedBudget budget = ForTest(set, {"A.One", ""});
  EXPECT_EQ(budget.component, "net");
  EXPECT_TRUE(UsesDefaultPolicy(budget));
  ASSERT_TRUE(budget.growth.blocks);
  EXPECT_EQ(budget.growth.blocks->value, 3);
}

TEST(BudgetSetTest, IsLiteralWhereAFileLimitsWhatIsOutstanding) {
  EXPECT_FALSE(UsesDefaultPolicy(
      ForTest(BudgetSet({Allowing(0, "net.leakgate.json")}, "net_test"), {"A.One", ""})));
}

TEST(BudgetSetTest, LeavesBlocksUnlimitedWhereAFileLimitsBytesOnly) {
  const BudgetSet set({Allowing(64, "net.leakgate.json")}, "net_test");
  const AppliedBudget budget = ForTest(set, {"A.One", ""});
  ASSERT_TRUE(budget.outstanding.bytes);
  EXPECT_EQ(budget.outstanding.bytes->value, 64);
  EXPECT_FALSE(budget.outstanding.blocks);
}

TEST(BudgetSetTest, LeavesBytesUnlimitedWhereAFileLimitsBlocksOnly) {
  const BudgetSet set({GoodBudget("net.leakgate.json", R"({"component": "net", "limits": {"test":
                           {"outstanding": {"blocks": 1}}}})")},
                      "net_test");
  const AppliedBudget budget = ForTest(set, {"A.One", ""});
  EXPECT_FALSE(budget.outstanding.bytes);
  EXPECT_TRUE(budget.outstanding.blocks);
}

TEST(BudgetSetTest, SaysWhichFileAndLineSetsALimit) {
  const BudgetSet set(
      {GoodBudget("ci/net.leakgate.json", R"({"component": "net", "owner": "team-net",
    "limits": {"test": {"outstanding":
      {"bytes": 64}}}})")},
      "net_test");
  const AppliedBudget budget = ForTest(set, {"A.One", ""});
  EXPECT_EQ(budget.owner, "team-net");
  ASSERT_TRUE(budget.outstanding.bytes);
  EXPECT_EQ(budget.outstanding.bytes->source.file, "ci/net.leakgate.json");
  EXPECT_EQ(budget.outstanding.bytes->source.line, 3);
  EXPECT_EQ(budget.outstanding.bytes->source.reason, "");
}

TEST(BudgetSetTest, TakesTheFileWhosePatternsMatch) {
  const BudgetSet set({Allowing(1, "http.leakgate.json", "Http*"),
                       Allowing(2, "disk.leakgate.json", "Disk*-DiskTest.Slow")},
                      "all_tests");
  EXPECT_EQ(ForTest(set, {"HttpTest.Get", ""}).component, "http");
  EXPECT_EQ(ForTest(set, {"DiskTest.Open", ""}).component, "disk");
  EXPECT_EQ(ForTest(set, {"DiskTest.Slow", ""}).component, "");
}

TEST(BudgetSetTest, IgnoresFilesForOtherBinaries) {
  const std::vector<BudgetFile> files = {GoodBudget(
      "net.leakgate.json", R"({"component": "net", "binaries": ["net_*", "http_test"]})")};
  EXPECT_EQ(ForTest(BudgetSet(files, "/build/bin/net_test"), {"A.One", ""}).component, "net");
  EXPECT_EQ(ForTest(BudgetSet(files, "http_test"), {"A.One", ""}).component, "net");
  EXPECT_EQ(ForTest(BudgetSet(files, "/net_build/disk_test"), {"A.One", ""}).component, "");
}

TEST(BudgetSetTest, PrefersTheFileInTheDeepestDirectoryAroundTheTest) {
  const BudgetSet set(
      {Allowing(1, "/repo/all.leakgate.json"), Allowing(3, "/repo/src/net/http/http.leakgate.json"),
       Allowing(2, "/repo/src/net/net.leakgate.json")},
      "all_tests");
  EXPECT_EQ(ForTest(set, {"A.One", "/repo/src/net/http/pool_test.cc"}).component, "http");
  EXPECT_EQ(ForTest(set, {"A.One", "/repo/src/net/tls/tls_test.cc"}).component, "net");
  EXPECT_EQ(ForTest(set, {"A.One", "/repo/src/disk/disk_test.cc"}).component, "all");
}

TEST(BudgetSetTest, PrefersAFileAroundTheTestToADeeperOneElsewhere) {
  const BudgetSet set({Allowing(1, "/repo/ci/gate/budgets/strict.leakgate.json"),
                       Allowing(2, "/repo/all.leakgate.json")},
                      "all_tests");
  EXPECT_EQ(ForTest(set, {"A.One", "/repo/src/a_test.cc"}).component, "all");
}

TEST(BudgetSetTest, ComparesDirectoriesByWholeComponents) {
  const BudgetSet set(
      {Allowing(1, "/repo/net/net.leakgate.json"), Allowing(2, "/repo/all.leakgate.json")},
      "all_tests");
  EXPECT_EQ(ForTest(set, {"A.One", "/repo/network/a_test.cc"}).component, "all");
}

TEST(BudgetSetTest, NormalisesPathsBeforeItComparesThem) {
  const BudgetSet set(
      {Allowing(1, "/repo/./src/./net.leakgate.json"), Allowing(2, "/repo/all.leakgate.json")},
      "all_tests");
  EXPECT_EQ(ForTest(set, {"A.One", "/repo/build/../src/a_test.cc"}).component, "net");
}

TEST(BudgetSetTest, TakesRelativePathsFromTheCurrentDirectory) {
  const BudgetSet set({Allowing(1, "src/./net.leakgate.json"), Allowing(2, "all.leakgate.json")},
                      "all_tests");
  EXPECT_EQ(ForTest(set, {"A.One", "src/a_test.cc"}).component, "net");
  EXPECT_EQ(ForTest(set, {"A.One", (fs::current_path() / "src/b_test.cc").string()}).component,
            "net");
  EXPECT_EQ(ForTest(set, {"A.One", "lib/a_test.cc"}).component, "all");
}

TEST(BudgetSetTest, ResolvesLinksBeforeItComparesPaths) {
  const test::TemporaryDirectory temp;
  temp.Write("real/net/a_test.cc", "");
  fs::create_directory_symlink(temp.File("real"), temp.File("link"));
  const BudgetSet set({Allowing(1, temp.File("link/net/net.leakgate.json")),
                       Allowing(2, temp.File("all.leakgate.json"))},
                      "all_tests");
  const std::string source = temp.File("real/net/a_test.cc");
  EXPECT_EQ(ForTest(set, {"A.One", source}).component, "net");
}

TEST(BudgetSetTest, TakesALinkToASourceForOneThatStandsThere) {
  const test::TemporaryDirectory temp;
  temp.Write("workspace/net/a_test.cc", "");
  fs::create_directories(temp.File("runfiles/net"));
  fs::create_symlink(temp.File("workspace/net/a_test.cc"), temp.File("runfiles/net/a_test.cc"));
  const BudgetSet set({Allowing(1, temp.File("runfiles/net/net.leakgate.json")),
                       Allowing(2, temp.File("runfiles/all.leakgate.json"))},
                      "all_tests");
  const std::string source = temp.File("runfiles/net/a_test.cc");
  EXPECT_EQ(ForTest(set, {"A.One", source}).component, "net");
}

TEST(BudgetSetTest, RefusesTwoFilesInTheSameDirectory) {
  const BudgetSet set(
      {Allowing(1, "/repo/a.leakgate.json"), Allowing(2, "/repo/b.leakgate.json", "A.*")},
      "all_tests");
  EXPECT_EQ(ErrorOf(set.ForTest({"A.One", "/repo/a_test.cc"})),
            "/repo/a.leakgate.json and /repo/b.leakgate.json: both cover A.One, and neither is "
            "nearer to its source file; narrow \"tests\" or \"binaries\" in one of them, or move "
            "it next to the test");
}

TEST(BudgetSetTest, RefusesTwoFilesWhereTheSourceIsUnknown) {
  const BudgetSet set(
      {Allowing(1, "/repo/a.leakgate.json"), Allowing(2, "/repo/src/b.leakgate.json")},
      "all_tests");
  EXPECT_EQ(ErrorOf(set.ForTest({"A.One", ""})),
            "/repo/a.leakgate.json and /repo/src/b.leakgate.json: both cover A.One, and neither "
            "is nearer to its source file; narrow \"tests\" or \"binaries\" in one of them, or "
            "move it next to the test");
}

TEST(BudgetSetTest, AllowsEqualFilesFurtherOutThanTheWinner) {
  const BudgetSet set({Allowing(1, "/repo/a.leakgate.json"), Allowing(2, "/repo/b.leakgate.json"),
                       Allowing(3, "/repo/src/c.leakgate.json")},
                      "all_tests");
  EXPECT_EQ(ForTest(set, {"A.One", "/repo/src/a_test.cc"}).component, "c");
}

TEST(BudgetSetTest, ChecksEveryTestBeforeLaunch) {
  const BudgetSet set({Allowing(1, "a.leakgate.json"), Allowing(2, "b.leakgate.json", "B.*")},
                      "all_tests");
  EXPECT_TRUE(set.Check({{"A.One", ""}}));
  const Expected<void> check = set.Check({{"A.One", ""}, {"B.One", ""}});
  ASSERT_FALSE(check);
  EXPECT_EQ(check.error().exit_code, ExitCode::kUsage);
  EXPECT_EQ(check.error().message, ErrorOf(set.ForTest({"B.One", ""})));
}

BudgetFile CoveringOnly(const fs::path& path, const std::string& members) {
  return GoodBudget(path, R"({"component": "a", )" + members + "}");
}

TEST(BudgetSetTest, TellsOfAFileWhoseTestsMatchNone) {
  const BudgetSet set({CoveringOnly("a.leakgate.json", R"("tests": ["Ned.*", "Net.Gone"])")},
                      "net_test");
  EXPECT_THAT(set.UnusedFiles({"a.leakgate.json"}, {"Net.One"}),
              ElementsAre("a.leakgate.json: tests: \"Ned.*\" or \"Net.Gone\" matches no test of "
                          "net_test, so the file covers none; correct it, or leave the file out"));
  EXPECT_THAT(set.UnusedFiles({"a.leakgate.json"}, {"Ned.One"}), IsEmpty());
}

TEST(BudgetSetTest, TellsOfAFileThatIsNotForTheBinary) {
  const BudgetSet set({CoveringOnly("a.leakgate.json", R"("binaries": ["disk_*"])")}, "net_test");
  EXPECT_THAT(set.UnusedFiles({"a.leakgate.json"}, {"Net.One"}),
              ElementsAre("a.leakgate.json: binaries: \"disk_*\" does not match net_test, so the "
                          "file covers nothing of it; correct it, or leave the file out"));
}

// One directory holds the files of all binaries.
TEST(BudgetSetTest, TellsOfADirectoryOnlyWhereNoneOfItsFilesCoversAnything) {
  const BudgetFile other = CoveringOnly("dir/a.leakgate.json", R"("binaries": ["disk_*"])");
  const BudgetFile others = CoveringOnly("dir/b.leakgate.json", R"("tests": ["Disk.*"])");
  const BudgetFile own = CoveringOnly("dir/c.leakgate.json", R"("tests": ["Net.*"])");
  EXPECT_THAT(BudgetSet({other, others, own}, "net_test").UnusedFiles({"dir"}, {"Net.One"}),
              IsEmpty());
  EXPECT_THAT(BudgetSet({other, others}, "net_test").UnusedFiles({"dir"}, {"Net.One"}),
              ElementsAre("none of the 2 budget files covers net_test or a test of it; correct "
                          "\"binaries\" and \"tests\", or name other files"));
}

TEST(BudgetSetTest, TellsOfAFileOfADirectoryThatNamesTheBinary) {
  const BudgetFile gone =
      CoveringOnly("dir/a.leakgate.json", R"("binaries": ["net_*"], "tests": ["Gone.*"])");
  const BudgetFile own = CoveringOnly("dir/c.leakgate.json", R"("tests": ["Net.*"])");
  EXPECT_THAT(BudgetSet({gone, own}, "net_test").UnusedFiles({"dir"}, {"Net.One"}),
              ElementsAre(testing::HasSubstr("\"Gone.*\" matches no test of net_test")));
}

}  // namespace
}  // namespace leakgate
