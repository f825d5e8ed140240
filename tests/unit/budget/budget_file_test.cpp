// What a good budget file means. Bad ones: budget_file_errors_test.cpp.
#include "runner/budget/budget_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

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

BudgetFile Parse(const std::string& text) {
  const Expected<BudgetFile> file = ParseBudgetFile("net.leakgate.json", text);
  if (!file) ADD_FAILURE() << file.error().message;
  return file.value_or(BudgetFile{});
}

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
  EXPECT_EQ(limits.test.outstanding.bytes, (Limit{65'536, 9}));
  EXPECT_EQ(limits.test.outstanding.blocks, (Limit{2, 9}));
  EXPECT_EQ(limits.test.growth.bytes, (Limit{4096, 10}));
  EXPECT_EQ(limits.suite.growth.blocks, (Limit{0, 12}));
  EXPECT_EQ(limits.program.outstanding.bytes, (Limit{1'572'864, 16}));
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
  EXPECT_EQ(file.overrides[0].limits.test.outstanding.blocks, (Limit{7, 23}));
  EXPECT_EQ(file.overrides[0].reason, "the pool keeps one socket");
  EXPECT_EQ(file.overrides[0].line, 21);
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

}  // namespace
}  // namespace leakgate
