#include <gtest/gtest.h>

#include "runner/run/running_tests.h"

namespace leakgate {
namespace {

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
