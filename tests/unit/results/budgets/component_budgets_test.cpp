#include "runner/results/budgets/component_budgets.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "runner/budget/read_budget.h"
#include "tests/support/command.h"
#include "tests/unit/results/budgets/failing_windows.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;
using test::ReadFile;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

WindowResult FailingTest(const std::string& test, std::vector<Finding> findings) {
  WindowResult window = Failing(std::move(findings));
  window.name = test;
  return window;
}

RunResult RunOf(std::vector<WindowResult> windows) {
  RunResult run;
  run.windows = std::move(windows);
  return run;
}

// A checkout with src/net, src/net/tls and src/disk, whose tests are Net.*, Tls.* and Disk.*.
class ComponentBudgetsTest : public testing::Test {
 protected:
  ComponentBudgetsTest() {
    for (const char* const file :
         {"src/net/net_test.cc", "src/net/tls/tls_test.cc", "src/disk/disk_test.cc",
          "src/all_test.cc", "gen/gen_test.cc", ".git"}) {
      fs::create_directories(directory_.path() / fs::path(file).parent_path());
      directory_.Write(file, "");
    }
  }
  std::string File(const std::string& name) const { return directory_.File(name); }
  ComponentBudgets Budgets(const std::map<std::string, std::string>& tests) const {
    ComponentBudgets budgets = ComponentBudgets::In(File("src")).value();
    TestSources sources;
    for (const auto& [test, file] : tests) sources[test] = {File(file), 1};
    if (!budgets.AddTests("b", sources)) ADD_FAILURE();
    return budgets;
  }
  BudgetFile Read(const std::string& name) const {
    const Expected<BudgetFile> file = ParseBudgetFile(name, ReadFile(File(name)));
    if (!file) ADD_FAILURE() << file.error().message;
    return file.value_or(BudgetFile{});
  }

  const test::TemporaryDirectory directory_;
  const std::map<std::string, std::string> all_ = {{"Net.A", "src/net/net_test.cc"},
                                                   {"Net.B", "src/net/net_test.cc"},
                                                   {"Tls.A", "src/net/tls/tls_test.cc"},
                                                   {"Disk.A", "src/disk/disk_test.cc"}};
};

TEST_F(ComponentBudgetsTest, EachFolderHasAFileAlsoOneThatAcceptsNothing) {
  ComponentBudgets budgets = Budgets(all_);
  EXPECT_THAT(
      budgets.Accept("b", RunOf({FailingTest("Tls.A", {LostAt("net::F()", {8, 1})})})).windows,
      IsEmpty());
  ASSERT_TRUE(budgets.Write());
  const BudgetFile net = Read("src/net/net.leakgate.json");
  EXPECT_EQ(net.component, "net");
  EXPECT_THAT(net.tests, IsEmpty()) << "new tests of the folder are covered, too";
  ASSERT_THAT(net.allowances, SizeIs(1));
  EXPECT_THAT(net.allowances[0].tests, ElementsAre("Tls.A"));
  EXPECT_THAT(Read("src/disk/disk.leakgate.json").allowances, IsEmpty());
  EXPECT_THAT(budgets.Text(""), HasSubstr("disk.leakgate.json (component disk) has to accept "));
}

TEST_F(ComponentBudgetsTest, CodeownersNamesFoldersAndOwners) {
  directory_.Write("CODEOWNERS", "* @all\n/src/net/tls/ @tls\n");
  ComponentBudgets budgets = Budgets(all_);
  ASSERT_TRUE(budgets.Write());
  EXPECT_EQ(Read("src/net/tls/tls.leakgate.json").owner, "@tls");
  EXPECT_EQ(Read("src/net/net.leakgate.json").owner, "@all");
}

TEST_F(ComponentBudgetsTest, OneMoreBlockOfATestIsNotAllowed) {
  ComponentBudgets budgets = Budgets(all_);
  (void)budgets.Accept("b", RunOf({FailingTest("Net.A", {LostAt("net::F()", {8, 1})}),
                                   FailingTest("Net.B", {LostAt("net::F()", {16, 2})})}));
  ASSERT_TRUE(budgets.Write());
  const std::vector<Allowance> allowances = Read("src/net/net.leakgate.json").allowances;
  ASSERT_THAT(allowances, SizeIs(2));
  EXPECT_THAT(allowances[0].tests, ElementsAre("Net.A"));
  EXPECT_EQ(allowances[0].blocks->value, 1);
  EXPECT_THAT(allowances[1].tests, ElementsAre("Net.B"));
  EXPECT_EQ(allowances[1].blocks->value, 2);
}

TEST_F(ComponentBudgetsTest, WhatIsInAnotherTestEachTimeIsAllowedInAllOfTheComponent) {
  ComponentBudgets budgets = Budgets(all_);
  (void)budgets.Accept("b", RunOf({FailingTest("Net.A", {LostAt("net::Once()", {8, 1})})}));
  ASSERT_TRUE(budgets.Write());
  (void)budgets.Accept("b", RunOf({FailingTest("Net.B", {LostAt("net::Once()", {8, 1})})}));
  ASSERT_TRUE(budgets.Write());
  const std::vector<Allowance> allowances = Read("src/net/net.leakgate.json").allowances;
  ASSERT_THAT(allowances, SizeIs(1));
  EXPECT_THAT(allowances[0].tests, ElementsAre("Net.*", "Tls.*"));
  EXPECT_EQ(allowances[0].blocks->value, 1);
}

TEST_F(ComponentBudgetsTest, AllInstancesOfAParameterisedTestAreOne) {
  ComponentBudgets budgets = Budgets({{"All/P-Q.X/0", "src/net/net_test.cc"},
                                      {"All/P-Q.X/1", "src/net/net_test.cc"},
                                      {"T/0.X", "src/net/net_test.cc"}});
  (void)budgets.Accept("b", RunOf({FailingTest("All/P-Q.X/1", {LostAt("net::F()", {8, 1})}),
                                   FailingTest("T/0.X", {LostAt("net::F()", {8, 1})})}));
  ASSERT_TRUE(budgets.Write());
  EXPECT_THAT(Read("src/net/net.leakgate.json").allowances.at(0).tests,
              ElementsAre("All/P?Q.X/*", "T/*.X"));
}

TEST_F(ComponentBudgetsTest, WhatNoBudgetCanHaveIsLeftOver) {
  ComponentBudgets budgets = Budgets({{"Net.A", "src/net/net_test.cc"},
                                      {"Suite.A", "src/net/net_test.cc"},
                                      {"Suite.B", "src/disk/disk_test.cc"},
                                      {"Gen.A", "gen/gen_test.cc"}});
  WindowResult both = FailingTest("Net.A", {LostAt("net::F()", {8, 1}), LostAt("", {9, 1})});
  both.violations = {{.metric = Metric::kLostBytes}, {.metric = Metric::kFileDescriptors}};
  both.free_errors = {{.text = "freed twice"}};
  WindowResult suite = FailingTest("Suite", {LostAt("net::F()", {8, 1})});
  suite.kind = WindowKind::kSuite;
  WindowResult program = FailingTest("b", {LostAt("main", {8, 1})});
  program.kind = WindowKind::kProgram;
  const RunResult rest = budgets.Accept(
      "b", RunOf({both, FailingTest("Gen.A", {LostAt("gen::F()", {8, 1})}), suite, program}));
  ASSERT_THAT(rest.windows, SizeIs(4));
  EXPECT_THAT(rest.windows[0].findings, ElementsAre(LostAt("", {9, 1})));
  EXPECT_THAT(rest.windows[0].free_errors, SizeIs(1));
  EXPECT_EQ(rest.windows[1].name, "Gen.A");
  ASSERT_TRUE(budgets.Write());
  // Otherwise both files would cover Gen.A.
  EXPECT_THAT(Read("src/net/net.leakgate.json").tests, ElementsAre("Net.*", "Suite.*"));
  EXPECT_THAT(Read("src/net/net.leakgate.json").allowances, SizeIs(1));
}

TEST_F(ComponentBudgetsTest, ATestInTheFolderItselfIsOfTheFolder) {
  ComponentBudgets budgets = Budgets({{"All.A", "src/all_test.cc"}});
  ASSERT_TRUE(budgets.Write());
  EXPECT_EQ(Read("src/src.leakgate.json").component, "src");
}

TEST_F(ComponentBudgetsTest, FilesThatAreThereAreNotReplaced) {
  directory_.Write("src/disk/ours.leakgate.json", R"({"component": "ours"})");
  const Expected<ComponentBudgets> refused = ComponentBudgets::In(File("src"));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("disk/ours.leakgate.json: exists already"));
  EXPECT_THAT(ComponentBudgets::In(File("none")).error().message, HasSubstr("no such directory"));
}

}  // namespace
}  // namespace leakgate
