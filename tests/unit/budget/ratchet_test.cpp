#include "runner/budget/ratchet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "runner/budget/read_budget.h"
#include "tests/support/processor_time.h"

namespace leakgate {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// The layout is unusual, and must not be changed. The allowances are on lines 4, 6 and 7, the
// override is on line 10.
const std::string kText = R"({ "component":"net",
  "limits": {"test": {"outstanding": {"bytes": 99}}},
  "allowances" : [
      {"stack": ["net::Grow"],   "bytes": "64 KiB",
       "blocks":2, "reason": "one pool"}
    , {"issue": "NET-1",
       "stack": ["b"], "reason": "b"},   {"stack": ["c"], "blocks": 5, "reason": "c"} ],
  "overrides": [

    { "tests": ["A.*"], "reason": "a cache",
      "limits": {"test": {"outstanding": {"bytes": 100, "blocks": 4}, "threads": 3},
                 "suite": {"growth": {"bytes": "1 kB"}}} }
  ]
}
)";

RatchetedBudget Ratcheted(const BudgetUsage& usage, UnusedEntries unused = UnusedEntries::kRemove,
                          const std::string& text = kText) {
  const Expected<RatchetedBudget> result = Ratchet("a.json", text, usage, unused);
  if (!result) ADD_FAILURE() << result.error().message;
  return result.value_or(RatchetedBudget{});
}

// `text` with one part of it replaced.
std::string TextWith(const std::string& part, const std::string& replacement,
                     std::string text = kText) {
  EXPECT_NE(text.find(part), std::string::npos) << part;
  return text.replace(text.find(part), part.size(), replacement);
}

// A run that has used as much as the text permits.
BudgetUsage Everything() {
  return {.allowances = {{4, {65'536, 2}}, {6, {8, 1}}, {7, {8, 5}}}, .overrides = {{10, {}}}};
}

TEST(RatchetTest, ChangesNothingWhereAllIsUsed) {
  const RatchetedBudget result = Ratcheted(Everything());
  EXPECT_EQ(result.text, kText);
  EXPECT_THAT(result.changes, IsEmpty());
}

TEST(RatchetTest, LeavesWhatOtherBinariesMayNeed) {
  BudgetUsage usage = Everything();
  usage.allowances = {{4, {8, 1}}, {7, {8, 5}}};
  usage.of_other_binaries = {4, 6};
  EXPECT_EQ(Ratcheted(usage).text, kText);
}

TEST(RatchetTest, LowersAnAllowanceToWhatWasUsed) {
  BudgetUsage usage = Everything();
  usage.allowances[4] = {4096, 1};
  const RatchetedBudget result = Ratcheted(usage);
  EXPECT_EQ(result.text, TextWith("\"blocks\":2", "\"blocks\":1", TextWith("\"64 KiB\"", "4096")));
  EXPECT_THAT(result.changes, ElementsAre("a.json:4: allowance: bytes: 65536 -> 4096",
                                          "a.json:5: allowance: blocks: 2 -> 1"));
}

TEST(RatchetTest, NeverLoosens) {
  BudgetUsage usage = Everything();
  usage.allowances[4] = {1'000'000, 1'000};
  usage.overrides[10] = {{"test.outstanding.bytes", 1'000}, {"test.threads", 50}};
  EXPECT_EQ(Ratcheted(usage).text, kText);
}

TEST(RatchetTest, RemovesAllowancesThatNothingUsed) {
  BudgetUsage usage = Everything();
  usage.allowances.erase(6);
  usage.allowances[7] = {};
  const RatchetedBudget result = Ratcheted(usage);
  EXPECT_EQ(result.text, TextWith(R"(
    , {"issue": "NET-1",
       "stack": ["b"], "reason": "b"},   {"stack": ["c"], "blocks": 5, "reason": "c"})",
                                  ""));
  EXPECT_THAT(result.changes, ElementsAre("a.json:6: allowance removed: nothing used it",
                                          "a.json:7: allowance removed: nothing used it"));
}

TEST(RatchetTest, RemovesTheFirstOfSeveral) {
  BudgetUsage usage = Everything();
  usage.allowances.erase(4);
  EXPECT_EQ(Ratcheted(usage).text, TextWith(R"({"stack": ["net::Grow"],   "bytes": "64 KiB",
       "blocks":2, "reason": "one pool"}
    , )",
                                            ""));
}

TEST(RatchetTest, LeavesAnEmptyListWhereNothingIsUsed) {
  const RatchetedBudget result = Ratcheted({});
  EXPECT_EQ(result.text, R"({ "component":"net",
  "limits": {"test": {"outstanding": {"bytes": 99}}},
  "allowances" : [],
  "overrides": []
}
)");
  EXPECT_TRUE(ParseBudgetFile("a.json", result.text));
}

TEST(RatchetTest, LowersTheLimitsOfAnOverrideToWhatWasMeasured) {
  BudgetUsage usage = Everything();
  usage.overrides[10] = {
      {"test.outstanding.bytes", 64}, {"test.threads", 0}, {"suite.growth.bytes", 10}};
  const RatchetedBudget result = Ratcheted(usage);
  EXPECT_EQ(result.text, TextWith("\"1 kB\"", "10",
                                  TextWith("\"threads\": 3", "\"threads\": 0",
                                           TextWith("\"bytes\": 100", "\"bytes\": 64"))));
  EXPECT_THAT(result.changes, ElementsAre("a.json:11: override: test.outstanding.bytes: 100 -> 64",
                                          "a.json:11: override: test.threads: 3 -> 0",
                                          "a.json:12: override: suite.growth.bytes: 1000 -> 10"));
}

TEST(RatchetTest, KeepsWhatNothingUsedIfTheRunCouldNotTell) {
  EXPECT_EQ(Ratcheted({}, UnusedEntries::kKeep).text, kText);
}

TEST(RatchetTest, HasNothingToDoTheSecondTime) {
  BudgetUsage usage = Everything();
  usage.allowances[4] = {4096, 1};
  usage.allowances.erase(7);
  const std::string once = Ratcheted(usage).text;
  EXPECT_EQ(Ratcheted(usage, UnusedEntries::kRemove, once).text, once);
}

TEST(RatchetTest, RefusesABadFile) {
  EXPECT_FALSE(Ratchet("a.json", "{}", {}, UnusedEntries::kRemove));
}

TEST(RatchetTest, CostsAsMuchForEachEditHoweverManyThereAre) {
  const auto make = [](std::size_t edits) { return std::string(edits * 100, 'x'); };
  const double growth = test::GrowthOfCost(2'000, make, [](const std::string& text) {
    std::vector<TextEdit> edits;
    for (std::size_t at = 0; at < text.size(); at += 100) edits.push_back({at, at + 1, "yy"});
    EXPECT_EQ(ApplyEdits(edits, text).size(), text.size() + edits.size());
  });
  EXPECT_LT(growth, test::kMostGrowth);
}

}  // namespace
}  // namespace leakgate
