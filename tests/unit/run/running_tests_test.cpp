// How many tests are going to run, and which shard of them.
#include "runner/run/running_tests.h"

#include <gmock/gmock.h>

#include "runner/result/gtest_flags.h"

namespace leakgate {
namespace {

TestSources ListOf(int count) {
  TestSources tests;
  for (int i = 0; i < count; ++i) tests["Suite.Test" + std::to_string(i)] = {};
  return tests;
}

TEST(CountTestsToRunTest, IsWhatWasListed) { EXPECT_EQ(CountTestsToRun(ListOf(7), {}, {}), 7); }

TEST(CountTestsToRunTest, IsNotKnownWhereNothingWasListed) {
  EXPECT_EQ(CountTestsToRun({}, {}, {}), std::nullopt);
}

TEST(CountTestsToRunTest, OfAShardIsItsPart) {
  std::int64_t all = 0;
  for (int shard = 0; shard < 3; ++shard) {
    const auto part = CountTestsToRun(
        ListOf(7), {}, {"GTEST_TOTAL_SHARDS=3", "GTEST_SHARD_INDEX=" + std::to_string(shard)});
    EXPECT_EQ(part, shard == 0 ? 3 : 2);
    all += part.value_or(0);
  }
  EXPECT_EQ(all, 7);
}

TEST(CountTestsToRunTest, IsNotKnownOfARunThatRepeats) {
  EXPECT_EQ(CountTestsToRun(ListOf(7), {"--gtest_repeat=3"}, {}), std::nullopt);
  EXPECT_EQ(CountTestsToRun(ListOf(7), {}, {"GTEST_REPEAT=3"}), std::nullopt);
  EXPECT_EQ(CountTestsToRun(ListOf(7), {"--gtest_flagfile=x"}, {}), std::nullopt);
}

TEST(ShardTest, IsWhatGoogleTestsVariablesSay) {
  EXPECT_EQ(ShardOf({"GTEST_TOTAL_SHARDS=4", "GTEST_SHARD_INDEX=3"}), (Shard{3, 4}));
}

TEST(ShardTest, IsNoneWhereTheyAreNotSet) {
  EXPECT_EQ(ShardOf({}), std::nullopt);
  EXPECT_EQ(ShardOf({"TEST_TOTAL_SHARDS=4", "TEST_SHARD_INDEX=3"}), std::nullopt);
}

TEST(ShardTest, IsNoneWhereGoogleTestWouldRefuseThem) {
  for (const char* index : {"GTEST_SHARD_INDEX=4", "GTEST_SHARD_INDEX=-1", "GTEST_SHARD_INDEX=x",
                            "GTEST_SHARD_INDEX=", "OTHER=1"}) {
    EXPECT_EQ(ShardOf({"GTEST_TOTAL_SHARDS=4", index}), std::nullopt) << index;
  }
}

}  // namespace
}  // namespace leakgate
