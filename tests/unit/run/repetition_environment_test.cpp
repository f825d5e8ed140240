// What a repeated test's process is not to inherit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runner/result/gtest_flags.h"

namespace leakgate {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(RepetitionEnvironmentTest, LosesWhatGoogleTestReads) {
  EXPECT_THAT(WithoutTestVariables({"GTEST_FILTER=A.*", "GTEST_OUTPUT=xml", "GTEST_REPEAT=3"}),
              IsEmpty());
}

TEST(RepetitionEnvironmentTest, LosesWhatTestRunnersSet) {
  EXPECT_THAT(WithoutTestVariables({"TEST_TOTAL_SHARDS=2", "TEST_SHARD_STATUS_FILE=/tmp/s",
                                    "TESTBRIDGE_TEST_ONLY=A.*", "XML_OUTPUT_FILE=/tmp/a.xml"}),
              IsEmpty());
}

TEST(RepetitionEnvironmentTest, KeepsTheRestInItsOrder) {
  EXPECT_THAT(WithoutTestVariables({"PATH=/bin", "GTEST_COLOR=no", "MY_TEST_DIR=/tmp", "LANG="}),
              ElementsAre("PATH=/bin", "GTEST_COLOR=no", "MY_TEST_DIR=/tmp", "LANG="));
}

class SelectingArgumentTest : public testing::TestWithParam<const char*> {};

TEST_P(SelectingArgumentTest, IsLeftOut) {
  EXPECT_THAT(WithoutTestSelection({GetParam()}), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(, SelectingArgumentTest,
                         testing::Values("--gtest_filter=A.*", "-gtest_filter=A.*",
                                         "--gtest_repeat=3", "--gtest_shuffle", "--gtest_shuffle=1",
                                         "--gtest_random_seed=7", "--gtest_output=xml:/tmp/a.xml",
                                         "--gtest_list_tests",
                                         "--gtest_stream_result_to=localhost:1",
                                         "--gtest_break_on_failure", "--gtest_fail_fast",
                                         "--gtest_flagfile=flags", "--gtest_brief=1",
                                         "--gtest_throw_on_failure"));

class OtherArgumentTest : public testing::TestWithParam<const char*> {};

TEST_P(OtherArgumentTest, IsKept) {
  EXPECT_THAT(WithoutTestSelection({GetParam()}), ElementsAre(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(, OtherArgumentTest,
                         testing::Values("--verbose", "A.B", "--gtest_color=no",
                                         "--gtest_death_test_style=threadsafe",
                                         "--gtest_also_run_disabled_tests", "--gtest_filters",
                                         "gtest_filter=A.*", ""));

TEST(FilterTest, ChoosesTestsByTheirNames) {
  EXPECT_EQ(FilterFor({"Suite.Test"}), "Suite.Test");
  EXPECT_EQ(FilterFor({"Suite.Test", "Typed/0.Other"}), "Suite.Test:Typed/0.Other");
}

// Between patterns they would mean something else.
TEST(FilterTest, TakesAnyCharacterForPunctuationInAName) {
  EXPECT_EQ(FilterFor({"Typed/std::string.Test"}), "Typed/std??string.Test");
  EXPECT_EQ(FilterFor({"Typed/f<-1, int*>.Test"}), "Typed/f<?1, int?>.Test");
}

}  // namespace
}  // namespace leakgate
