#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "runner/base/path_text.h"
#include "runner/budget/read_budget.h"
#include "tests/support/command.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string Budget(const std::string& component) {
  return R"({"component": ")" + component + "\"}";
}

std::vector<std::string> ComponentsIn(const std::vector<fs::path>& paths) {
  const Expected<std::vector<BudgetFile>> files = LoadBudgetFiles(paths);
  if (!files) ADD_FAILURE() << files.error().message;
  std::vector<std::string> components;
  for (const BudgetFile& file : files.value_or(std::vector<BudgetFile>{})) {
    components.push_back(file.component);
  }
  return components;
}

std::string LoadingErrorOf(const std::vector<fs::path>& paths) {
  const Expected<std::vector<BudgetFile>> files = LoadBudgetFiles(paths);
  if (files) return "no error";
  EXPECT_EQ(files.error().exit_code, ExitCode::kUsage);
  return files.error().message;
}

TEST(LoadBudgetFilesTest, ReadsAFileOfAnyName) {
  const test::TemporaryDirectory temp;
  EXPECT_THAT(ComponentsIn({temp.Write("net.json", Budget("net"))}), ElementsAre("net"));
}

TEST(LoadBudgetFilesTest, ReadsEveryBudgetBelowADirectoryInTheOrderOfTheirPaths) {
  const test::TemporaryDirectory temp;
  temp.Write("z.leakgate.json", Budget("z"));
  temp.Write("a/b/deep.leakgate.json", Budget("deep"));
  temp.Write("a/b.leakgate.json", Budget("b"));
  EXPECT_THAT(ComponentsIn({temp.path()}), ElementsAre("deep", "b", "z"));
}

TEST(LoadBudgetFilesTest, PassesOverOtherFilesInADirectory) {
  const test::TemporaryDirectory temp;
  temp.Write("net.leakgate.json", Budget("net"));
  temp.Write("package.json", "not JSON");
  temp.Write("net.leakgate.json.orig", "not JSON");
  fs::create_directory(temp.File("folder.leakgate.json"));
  EXPECT_THAT(ComponentsIn({temp.path()}), ElementsAre("net"));
}

TEST(LoadBudgetFilesTest, KeepsPathsAsGiven) {
  const test::TemporaryDirectory temp;
  temp.Write("a/net.leakgate.json", Budget("net"));
  const Expected<std::vector<BudgetFile>> files = LoadBudgetFiles({temp.File("a/../a")});
  ASSERT_TRUE(files);
  ASSERT_EQ(files->size(), 1U);
  EXPECT_EQ(files->front().path, fs::path(temp.File("a/../a/net.leakgate.json")));
}

TEST(LoadBudgetFilesTest, NamesFilesBelowTheCurrentDirectoryAsOneWouldWriteThem) {
  const test::TemporaryDirectory temp;
  temp.Write("a/net.leakgate.json", Budget("net"));
  const fs::path before = fs::current_path();
  fs::current_path(temp.path());
  const auto files = FindBudgetFiles({"."});
  fs::current_path(before);
  ASSERT_TRUE(files) << files.error().message;
  EXPECT_THAT(*files, ElementsAre("a/net.leakgate.json"));
}

TEST(LoadBudgetFilesTest, ReadsTheSameFileOnce) {
  const test::TemporaryDirectory temp;
  const fs::path file = temp.Write("a/net.leakgate.json", Budget("net"));
  fs::create_symlink(file, temp.File("link.json"));
  EXPECT_THAT(ComponentsIn({file, temp.path(), temp.File("a/../a"), temp.File("link.json")}),
              ElementsAre("net"));
}

TEST(LoadBudgetFilesTest, ReadsNothingWhenNothingIsGiven) {
  EXPECT_THAT(ComponentsIn({}), IsEmpty());
}

TEST(LoadBudgetFilesTest, FailsOnAFileThatDoesNotExist) {
  const test::TemporaryDirectory temp;
  const fs::path file = temp.File("none.json");
  EXPECT_EQ(LoadingErrorOf({file}),
            PathText(file) +
                ": cannot be read: No such file or directory; check the path and "
                "its permissions");
}

TEST(LoadBudgetFilesTest, FailsOnAFileThatMayNotBeRead) {
  if (geteuid() == 0) GTEST_SKIP() << "root may read every file";
  const test::TemporaryDirectory temp;
  const fs::path file = temp.Write("net.json", Budget("net"));
  fs::permissions(file, fs::perms::none);
  EXPECT_EQ(LoadingErrorOf({file}),
            PathText(file) +
                ": cannot be read: Permission denied; check the path and its "
                "permissions");
}

TEST(LoadBudgetFilesTest, FailsOnADirectoryThatMayNotBeRead) {
  if (geteuid() == 0) GTEST_SKIP() << "root may read every directory";
  const test::TemporaryDirectory temp;
  const fs::path file = temp.Write("closed/net.leakgate.json", Budget("net"));
  temp.Write("other.leakgate.json", Budget("other"));
  fs::permissions(file.parent_path(), fs::perms::none);
  EXPECT_EQ(LoadingErrorOf({temp.path()}),
            temp.path() +
                ": cannot be read: Permission denied; check the path and "
                "its permissions");
  fs::permissions(file.parent_path(), fs::perms::owner_all);
}

TEST(LoadBudgetFilesTest, FailsOnALinkInADirectoryThatLeadsNowhere) {
  const test::TemporaryDirectory temp;
  const fs::path link = temp.File("net.leakgate.json");
  fs::create_symlink(temp.File("gone.json"), link);
  EXPECT_EQ(LoadingErrorOf({temp.path()}),
            PathText(link) +
                ": cannot be read: No such file or directory; check the "
                "path and its permissions");
}

TEST(LoadBudgetFilesTest, FailsOnADirectoryWithoutBudgets) {
  const test::TemporaryDirectory temp;
  temp.Write("net.json", Budget("net"));
  EXPECT_EQ(LoadingErrorOf({temp.path()}),
            temp.path() +
                ": holds no *.leakgate.json; name a budget file, or a directory with one in or "
                "below it");
}

TEST(LoadBudgetFilesTest, FailsOnTheFirstBadFile) {
  const test::TemporaryDirectory temp;
  temp.Write("a.leakgate.json", Budget("a"));
  const fs::path bad = temp.Write("b.leakgate.json", "");
  temp.Write("c.leakgate.json", "");
  EXPECT_EQ(LoadingErrorOf({temp.path()}),
            PathText(bad) + ":1:1: the file is empty; write at least {\"component\": \"NAME\"}");
}

}  // namespace
}  // namespace leakgate
