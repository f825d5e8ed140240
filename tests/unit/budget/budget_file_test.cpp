// What a good budget file means. For bad ones, see budget_file_errors_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "runner/budget/apply_limits.h"
#include "tests/unit/budget/good_budget.h"

namespace leakgate {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* kFull = R"({
  "$schema": "https://example.com/leakgate.schema.json",
  "component": "net",
  "owner": "team-net",
  "tests": ["HttpTest.*:TlsTest.*-*.Slow", "PoolTest.*"],
  "binaries": ["net_*"],
  "limits": {
    "test": {
      "outstanding": {"bytes": "64 KiB", "blocks": 2},
      "growth": {"bytes": 4096}
    },
    "suite": {"growth": {"blocks": 0}},
    "program": {
      "outstanding": {
        "bytes":
          "1.5 MiB"
      }
    }
  },
  "overrides": [
    {
      "tests": ["HttpTest.KeepAlive"],
      "limits": {"test": {"outstanding": {"blocks": 7}}},
      "reason": "the pool keeps one socket"
    }
  ]
})";

BudgetFile Parse(const std::string& text) { return GoodBudget("net.leakgate.json", text); }

TEST(BudgetFileTest, KnowsWhatItCovers) {
  const BudgetFile file = Parse(kFull);
  EXPECT_EQ(file.path, "net.leakgate.json");
  EXPECT_EQ(file.component, "net");
  EXPECT_EQ(file.owner, "team-net");
  EXPECT_THAT(file.tests, ElementsAre("HttpTest.*:TlsTest.*-*.Slow", "PoolTest.*"));
  EXPECT_THAT(file.binaries, ElementsAre("net_*"));
}

TEST(BudgetFileTest, KeepsTheLineOfEachLimit) {
  const ScopedLimits limits = Parse(kFull).limits;
  EXPECT_EQ(limits.test.outstanding.bytes, (Limit{65'536, 9, 32}));
  EXPECT_EQ(limits.test.outstanding.blocks, (Limit{2, 9, 52}));
  EXPECT_EQ(limits.test.growth.bytes, (Limit{4096, 10, 27}));
  EXPECT_EQ(limits.suite.growth.blocks, (Limit{0, 12, 36}));
  EXPECT_EQ(limits.program.outstanding.bytes, (Limit{1'572'864, 16, 11}));
}

TEST(BudgetFileTest, LeavesLimitsThatAreNotSetUnset) {
  const ScopedLimits limits = Parse(kFull).limits;
  EXPECT_EQ(limits.test.growth.blocks, std::nullopt);
  EXPECT_EQ(limits.suite.outstanding.bytes, std::nullopt);
  EXPECT_EQ(limits.program.growth.bytes, std::nullopt);
}

TEST(BudgetFileTest, KeepsOverridesWithReasonAndLine) {
  const BudgetFile file = Parse(kFull);
  ASSERT_EQ(file.overrides.size(), 1U);
  EXPECT_THAT(file.overrides[0].tests, ElementsAre("HttpTest.KeepAlive"));
  EXPECT_EQ(file.overrides[0].limits.test.outstanding.blocks, (Limit{7, 23, 53}));
  EXPECT_EQ(file.overrides[0].reason, "the pool keeps one socket");
  EXPECT_EQ(file.overrides[0].line, 21);
}

constexpr const char* kJudging = R"({
  "component": "net",
  "code": {"paths": ["src/net/*"], "functions": ["net::*"], "modules": ["libnet.so*"]},
  "free_by": "suite",
  "confirm": "inline",
  "threads": "test",
  "limits": {"test": {
    "lost": {"blocks": 1}, "retained": {"blocks": 2}, "allocated": {"bytes": "1 GiB"},
    "peak": {"bytes": "1 MiB"}, "mapped": {"bytes": 0, "blocks": 5},
    "file_descriptors": 3, "threads": 4
  }},
  "overrides": [{
    "tests": ["A.*"], "free_by": "program", "reason": "a cache",
    "owner": "team-a", "issue": "A-1", "expires": "2026-12-31"
  }],
  "allowances": [
    {"stack": ["net::Pool::Grow", "net::Client::*"], "tests": ["B.*"], "bytes": "64 B",
     "blocks": 2, "reason": "one pool", "owner": "team-b", "issue": "B-2",
     "expires": "2026-02-28"},
    {"stack": ["*"], "reason": "any"}
  ]
})";

TEST(BudgetFileTest, KnowsTheCodeThatItOwns) {
  const CodePatterns code = Parse(kJudging).code;
  EXPECT_THAT(code.paths, ElementsAre("src/net/*"));
  EXPECT_THAT(code.functions, ElementsAre("net::*"));
  EXPECT_THAT(code.modules, ElementsAre("libnet.so*"));
}

TEST(BudgetFileTest, KnowsHowToJudge) {
  const BudgetFile file = Parse(kJudging);
  EXPECT_EQ(file.free_by, FreeBy::kSuite);
  EXPECT_EQ(file.confirm, Confirm::kInline);
  EXPECT_EQ(file.thread_scope, ThreadScope::kTest);
  EXPECT_EQ(Parse(kFull).free_by, std::nullopt);
}

TEST(BudgetFileTest, ReadsEveryQuantity) {
  const WindowLimits test = Parse(kJudging).limits.test;
  EXPECT_EQ(test.lost.blocks, (Limit{1, 8, 24}));
  EXPECT_EQ(test.retained.blocks->value, 2);
  EXPECT_EQ(test.allocated.bytes->value, 1 << 30);
  EXPECT_EQ(test.peak_bytes, (Limit{1 << 20, 9, 23}));
  EXPECT_EQ(test.mapped.bytes->value, 0);
  EXPECT_EQ(test.mapped.blocks->value, 5);
  EXPECT_EQ(test.file_descriptors, (Limit{3, 10, 25}));
  EXPECT_EQ(test.threads->value, 4);
}

TEST(BudgetFileTest, KnowsWhoPermitsAnOverrideAndUntilWhen) {
  const BudgetFile file = Parse(kJudging);
  ASSERT_EQ(file.overrides.size(), 1U);
  EXPECT_EQ(file.overrides[0].free_by, FreeBy::kProgram);
  EXPECT_EQ(file.overrides[0].owner, "team-a");
  EXPECT_EQ(file.overrides[0].issue, "A-1");
  EXPECT_EQ(file.overrides[0].expires, ParseDate("2026-12-31"));
}

TEST(BudgetFileTest, ReadsAllowances) {
  const BudgetFile file = Parse(kJudging);
  ASSERT_EQ(file.allowances.size(), 2U);
  const Allowance& full = file.allowances[0];
  EXPECT_THAT(full.stack, ElementsAre("net::Pool::Grow", "net::Client::*"));
  EXPECT_THAT(full.tests, ElementsAre("B.*"));
  EXPECT_EQ(full.bytes->value, 64);
  EXPECT_EQ(full.blocks->value, 2);
  EXPECT_EQ(full.reason, "one pool");
  EXPECT_EQ(full.owner, "team-b");
  EXPECT_EQ(full.issue, "B-2");
  EXPECT_EQ(full.expires, ParseDate("2026-02-28"));
  EXPECT_EQ(full.line, 17);
  EXPECT_FALSE(file.allowances[1].bytes || file.allowances[1].blocks);
}

TEST(BudgetFileTest, NeedsNoMoreThanAComponent) {
  const BudgetFile file = Parse(R"({"component": "net"})");
  EXPECT_EQ(file.component, "net");
  EXPECT_EQ(file.owner, "");
  EXPECT_THAT(file.tests, IsEmpty());
  EXPECT_THAT(file.binaries, IsEmpty());
  EXPECT_THAT(file.overrides, IsEmpty());
  EXPECT_EQ(file.limits.test.outstanding.bytes, std::nullopt);
}

TEST(BudgetFileTest, AllowsAnEmptyListOfOverrides) {
  EXPECT_THAT(Parse(R"({"component": "net", "overrides": []})").overrides, IsEmpty());
}

TEST(BudgetFileTest, PicksLimitsByWindowKind) {
  const ScopedLimits limits = Parse(kFull).limits;
  EXPECT_EQ(&limits.For(WindowKind::kTest), &limits.test);
  EXPECT_EQ(&limits.For(WindowKind::kSuite), &limits.suite);
  EXPECT_EQ(&limits.For(WindowKind::kProgram), &limits.program);
}

// What is left out is what stands first.
TEST(BudgetFileTest, NamesTheFunctionsOfPools) {
  const BudgetFile file = *ParseBudgetFile("a.json", R"({"component": "net", "allocators": [
    {"allocate": "A::Get", "free": "A::Put", "reallocate": "A::Change", "reset": "A::Clear"},
    {"allocate": {"function": "get", "count": "argument 3"}, "free": "put", "pool": "argument 1"},
    {"prefix": "je_", "allocate": "je_other"}]})");
  ASSERT_EQ(file.allocators.size(), 3U);
  const auto function = [&](std::size_t allocator, std::size_t i) {
    return file.allocators[allocator].functions.at(i);
  };
  EXPECT_EQ(function(0, 0).size, 1U);
  EXPECT_EQ(function(0, 0).pool, std::nullopt);
  EXPECT_EQ(function(0, 1).block, 1U);
  EXPECT_EQ(function(0, 2).block, 1U);
  EXPECT_EQ(function(0, 2).size, 2U);
  EXPECT_EQ(function(0, 3).call, NamedCall::kReset);
  EXPECT_EQ(function(0, 3).size, std::nullopt);
  EXPECT_EQ(function(1, 0).pool, 1U);
  EXPECT_EQ(function(1, 0).size, 2U);
  EXPECT_EQ(function(1, 0).count, 3U);
  EXPECT_EQ(function(1, 1).block, 2U);
  std::vector<std::string> required;
  for (const NamedFunction& it : file.allocators[2].functions) {
    if (!it.is_optional) required.push_back(it.name);
  }
  EXPECT_THAT(required, ElementsAre("je_other", "je_malloc", "je_free"));
}

}  // namespace
}  // namespace leakgate
