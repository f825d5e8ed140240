// Those of budget files; those of the program's code are tried on a real region by
// agent/allowances_test.cpp and the integration tests.
#include "runner/judge/allowances.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/judge/evidence.h"

namespace leakgate {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Field;

AppliedAllowance AllowPool(std::optional<std::int64_t> bytes, std::optional<std::int64_t> blocks) {
  AppliedAllowance allowance;
  allowance.stack = {"net::Pool::*"};
  allowance.bytes = bytes;
  allowance.blocks = blocks;
  allowance.source = {"net.leakgate.json", 7, "the pool keeps its blocks"};
  return allowance;
}

WindowEvidence Allowed(const AppliedAllowance& allowance, WindowEvidence evidence) {
  AppliedBudget budget;
  budget.allowances = {allowance};
  CallSites sites(StackOf);
  AllowByBudget([&](std::uint32_t) -> const AppliedBudget& { return budget; }, sites, evidence);
  return evidence;
}

TEST(BudgetAllowanceTest, CoversTheBlocksOfItsCallStack) {
  EXPECT_THAT(DispositionsOf(Allowed(AllowPool({}, {}), EvidenceOf({{kPool}, {kCache}}))),
              ElementsAre(Disposition::kAllowed, Disposition::kOutstanding));
}

TEST(BudgetAllowanceTest, NamesItsPlaceAndReason) {
  const WindowEvidence evidence = Allowed(AllowPool({}, {}), EvidenceOf({{kPool}}));

  EXPECT_EQ(evidence.facts[0].allowance, "net.leakgate.json:7");
  EXPECT_EQ(evidence.facts[0].explanation, "the pool keeps its blocks");
}

// The program's code may give a million blocks one reason of 64 KiB.
TEST(BudgetAllowanceTest, KeepsOneReasonForAllItsBlocks) {
  const WindowEvidence evidence = Allowed(AllowPool({}, {}), EvidenceOf({{kPool}, {kPool}}));

  EXPECT_EQ(&evidence.facts[0].explanation.get(), &evidence.facts[1].explanation.get());
  EXPECT_EQ(&evidence.facts[0].allowance.get(), &evidence.facts[1].allowance.get());
}

TEST(BudgetAllowanceTest, CoversAsMuchAsItPermits) {
  EXPECT_THAT(DispositionsOf(Allowed(AllowPool(128, 2), EvidenceOf({{kPool}, {kPool}}))),
              Each(Disposition::kAllowed));
}

TEST(BudgetAllowanceTest, CoversNothingWhereThereIsMoreThanItPermits) {
  EXPECT_THAT(DispositionsOf(Allowed(AllowPool(127, {}), EvidenceOf({{kPool}, {kPool}}))),
              Each(Disposition::kOutstanding));
  EXPECT_THAT(DispositionsOf(Allowed(AllowPool({}, 1), EvidenceOf({{kPool}, {kPool}}))),
              Each(Disposition::kOutstanding));
}

TEST(BudgetAllowanceTest, SaysWhatIsMoreThanItPermits) {
  const WindowEvidence evidence = Allowed(AllowPool(64, 1), EvidenceOf({{kPool}, {kPool}}));

  EXPECT_THAT(evidence.facts,
              Each(Field(&BlockFacts::explanation,
                         "more than net.leakgate.json:7 permits: 64 B in 1 block for 128 B in 2 "
                         "blocks")));
  EXPECT_THAT(evidence.facts, Each(Field(&BlockFacts::allowance, "")));
}

TEST(BudgetAllowanceTest, IsNotUsedUpByWhatIsDecided) {
  const WindowEvidence evidence =
      Allowed(AllowPool({}, 1), EvidenceOf({{.disposition = Disposition::kReplaced}, {}}));

  EXPECT_THAT(DispositionsOf(evidence), ElementsAre(Disposition::kReplaced, Disposition::kAllowed));
}

TEST(BudgetAllowanceTest, CoversLostBlocksToo) {
  EXPECT_THAT(DispositionsOf(Allowed(AllowPool({}, {}), EvidenceOf({{.reach = Reach::kLost}}))),
              ElementsAre(Disposition::kAllowed));
}

AppliedAllowance Allow(const std::string& pattern, std::int64_t blocks, int line) {
  AppliedAllowance allowance;
  allowance.stack = {pattern};
  allowance.blocks = blocks;
  allowance.source = {"net.leakgate.json", line, "it stays"};
  return allowance;
}

std::vector<std::string> PlacesOf(const std::vector<AppliedAllowance>& allowances,
                                  WindowEvidence evidence) {
  AppliedBudget budget;
  budget.allowances = allowances;
  CallSites sites(StackOf);
  AllowByBudget([&](std::uint32_t) -> const AppliedBudget& { return budget; }, sites, evidence);
  std::vector<std::string> places;
  for (const BlockFacts& facts : evidence.facts) places.push_back(facts.allowance.get());
  return places;
}

TEST(BudgetAllowanceTest, TakesFirstWhereItIsTheMostSpecific) {
  EXPECT_THAT(PlacesOf({Allow("main", 2, 1), Allow("net::*", 2, 2), Allow("net::Pool::Grow", 1, 3)},
                       EvidenceOf({{kPool}, {kCache}})),
              ElementsAre("net.leakgate.json:3", "net.leakgate.json:2"));
}

TEST(BudgetAllowanceTest, LeavesTheRestToTheNextOne) {
  EXPECT_THAT(PlacesOf({Allow("main", 1, 1), Allow("net::Pool::Grow", 2, 2)},
                       EvidenceOf({{kPool}, {kPool}, {kPool}})),
              ElementsAre("net.leakgate.json:2", "net.leakgate.json:2", "net.leakgate.json:1"));
}

TEST(BudgetAllowanceTest, CoversNothingWhereMoreIsLeftThanAllOfThemPermit) {
  EXPECT_THAT(PlacesOf({Allow("main", 1, 1), Allow("net::Pool::Grow", 1, 2)},
                       EvidenceOf({{kPool}, {kPool}, {kPool}})),
              Each(""));
}

TEST(BudgetAllowanceTest, IsApartFromAnotherOneOnTheSameLine) {
  EXPECT_THAT(PlacesOf({Allow("net::Pool::*", 1, 1), Allow("net::Cache::*", 1, 1)},
                       EvidenceOf({{kPool}, {kCache}})),
              Each("net.leakgate.json:1"));
  EXPECT_THAT(PlacesOf({Allow("net::Pool::*", 2, 1), Allow("net::Pool::*", 1, 1)},
                       EvidenceOf({{kPool}, {kPool}})),
              Each("net.leakgate.json:1"));
}

TEST(BudgetAllowanceTest, IsOfTheBudgetThatTheStackIsChargedTo) {
  AppliedBudget own;
  own.allowances = {AllowPool({}, {})};
  const AppliedBudget others;
  CallSites sites(StackOf);
  WindowEvidence evidence = EvidenceOf({{kPool}});
  AllowByBudget(
      [&](std::uint32_t stack) -> const AppliedBudget& { return stack == kPool ? others : own; },
      sites, evidence);

  EXPECT_THAT(DispositionsOf(evidence), ElementsAre(Disposition::kOutstanding));
}

// The cache's blocks are lost with the first of the pool.
WindowEvidence LostWithPool(const AppliedAllowance& allowance) {
  WindowEvidence evidence = EvidenceOf(
      {{kPool, Reach::kLost}, {kCache, Reach::kIndirectlyLost}, {kCache, Reach::kIndirectlyLost}});
  for (const std::size_t i : {1U, 2U}) {
    evidence.facts[i].leading.address = evidence.blocks[0].address;
    evidence.facts[i].leading.stack = kPool;
  }
  AppliedBudget budget;
  budget.allowances = {allowance};
  const auto budget_of = [&](std::uint32_t) -> const AppliedBudget& { return budget; };
  CallSites sites(StackOf);
  AllowByBudget(budget_of, sites, evidence);
  AllowLedTo([](std::uint32_t) { return AllowanceCopy(); }, budget_of, {}, sites, evidence);
  return evidence;
}

TEST(LedToAllowanceTest, CoversWhatTheAllowedBlockLedTo) {
  const WindowEvidence evidence = LostWithPool(AllowPool(192, 3));

  EXPECT_THAT(DispositionsOf(evidence), Each(Disposition::kAllowed));
  EXPECT_THAT(evidence.facts, Each(Field(&BlockFacts::allowance, "net.leakgate.json:7")));
}

TEST(LedToAllowanceTest, CoversNothingWhereThereIsNotRoomForAll) {
  const WindowEvidence evidence = LostWithPool(AllowPool({}, 2));

  EXPECT_THAT(DispositionsOf(evidence), Each(Disposition::kOutstanding));
  EXPECT_EQ(evidence.facts[0].reach, Reach::kLost);
  EXPECT_THAT(evidence.facts,
              Each(Field(&BlockFacts::explanation,
                         "more than net.leakgate.json:7 permits: 2 blocks for 192 B in 3 blocks")));
}

}  // namespace
}  // namespace leakgate
