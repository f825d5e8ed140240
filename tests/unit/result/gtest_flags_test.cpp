#include "runner/result/gtest_flags.h"

#include <gtest/gtest.h>

namespace leakgate {
namespace {

TEST(GtestFlagsTest, ListsTestsByTheLastValueThatGoogleTestTakesForYes) {
  EXPECT_TRUE(ListsTests({"suite", "--gtest_list_tests"}));
  EXPECT_TRUE(ListsTests({"suite", "--gtest_list_tests=1", "--other"}));
  EXPECT_TRUE(ListsTests({"suite", "--gtest_list_tests=0", "--gtest_list_tests=yes"}));
  EXPECT_FALSE(ListsTests({"suite", "--gtest_list_tests", "--gtest_list_tests=false"}));
  EXPECT_FALSE(ListsTests({"suite", "--gtest_list_tests_of_mine"}));
  EXPECT_FALSE(ListsTests({"suite", "--gtest_filter=A --gtest_list_tests"}));
  EXPECT_FALSE(ListsTests({}));
}

TEST(GtestFlagsTest, AsksForNoTestByHelpOnlyAsAWholeArgument) {
  EXPECT_TRUE(AsksForNoTest({"suite", "--help"}));
  EXPECT_TRUE(AsksForNoTest({"suite", "--gtest_list_tests"}));
  EXPECT_FALSE(AsksForNoTest({"suite", "--helper"}));
  EXPECT_FALSE(AsksForNoTest({"suite", "-h", "localhost"}));
}

}  // namespace
}  // namespace leakgate
