#include "runner/judge/code_charges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runner/budget/read_budget.h"
#include "tests/unit/judge/evidence.h"

namespace leakgate {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

BudgetFile Parse(const std::string& component, const std::string& members) {
  const Expected<BudgetFile> file = ParseBudgetFile(
      component + ".leakgate.json", R"({"component": ")" + component + R"(", )" + members + "}");
  if (!file) ADD_FAILURE() << file.error().message;
  return file.value_or(BudgetFile{});
}

// Owns the code of the pool.
BudgetFile PoolFile() {
  return Parse("pool", R"("code": {"functions": ["net::Pool::*"]},
                          "limits": {"test": {"lost": {"blocks": 3}}})");
}
// Owns the code that nobody owns.
BudgetFile UnownedFile() {
  return Parse("unowned", R"("limits": {"test": {"lost": {"blocks": 4}}})");
}

std::shared_ptr<const AppliedBudget> Own(const std::string& component) {
  AppliedBudget budget;
  budget.component = component;
  return std::make_shared<const AppliedBudget>(budget);
}

std::string ComponentOf(std::vector<BudgetFile> files, std::uint32_t stack,
                        const std::string& own_component) {
  const BudgetSet budgets(std::move(files), "net_test");
  const std::shared_ptr<const AppliedBudget> own = Own(own_component);
  CallSites sites(StackOf);
  CodeCharges charges(budgets, WindowKind::kTest, {"A.B"}, own, sites);
  return charges.BudgetOf(stack).component;
}

WindowResult Charged(std::vector<std::uint32_t> stacks) {
  const BudgetSet budgets({PoolFile()}, "net_test");
  WindowResult window;
  window.budget = Own("cache");
  CallSites sites(StackOf);
  for (const std::uint32_t stack : stacks) window.findings.push_back(sites.Of(stack).finding);
  CodeCharges charges(budgets, window.kind, {"A.B"}, window.budget, sites);
  charges.Charge(window);
  return window;
}

TEST(CodeChargesTest, ChargeTheOwnerOfTheCode) {
  EXPECT_EQ(ComponentOf({PoolFile()}, kPool, "cache"), "pool");
}

TEST(CodeChargesTest, ChargeTheTestWhereNobodyOwnsTheCode) {
  EXPECT_EQ(ComponentOf({PoolFile()}, kCache, "cache"), "cache");
}

TEST(CodeChargesTest, ChargeTheTestWhereNoFileOwnsCode) {
  EXPECT_EQ(ComponentOf({}, kPool, "cache"), "cache");
}

TEST(CodeChargesTest, ChargeTheUnownedWhereTheTestIsNobodysEither) {
  EXPECT_EQ(ComponentOf({UnownedFile()}, kCache, ""), "unowned");
}

TEST(CodeChargesTest, ChargeTheTestBeforeTheUnowned) {
  EXPECT_EQ(ComponentOf({UnownedFile()}, kCache, "cache"), "cache");
}

TEST(CodeChargesTest, ApplyTheLimitsOfTheOwner) {
  const BudgetSet budgets({PoolFile()}, "net_test");
  const std::shared_ptr<const AppliedBudget> own = Own("cache");
  CallSites sites(StackOf);
  CodeCharges charges(budgets, WindowKind::kTest, {"A.B"}, own, sites);

  ASSERT_TRUE(charges.BudgetOf(kPool).lost.blocks.has_value());
  EXPECT_EQ(charges.BudgetOf(kPool).lost.blocks->value, 3);
}

TEST(CodeChargesTest, NameTheComponentOfOthersFindingsOnly) {
  const WindowResult window = Charged({kPool, kCache});

  EXPECT_EQ(window.findings[0].component, "pool");
  EXPECT_EQ(window.findings[1].component, "");
}

TEST(CodeChargesTest, KeepTheBudgetOfEachOtherComponentOnce) {
  const WindowResult window = Charged({kPool, kPool, kCache});

  ASSERT_THAT(window.code_budgets, SizeIs(1));
  EXPECT_EQ(window.code_budgets[0]->component, "pool");
}

TEST(CodeChargesTest, KeepNoBudgetWhereAllIsTheTestsOwn) {
  EXPECT_THAT(Charged({kCache}).code_budgets, IsEmpty());
}

}  // namespace
}  // namespace leakgate
