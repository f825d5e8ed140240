// GoogleTest's own cost, and what is added to it: EMPTY_TESTS tests without a
// statement.
#include <gtest/gtest.h>

namespace {

class Empty : public ::testing::TestWithParam<int> {};

TEST_P(Empty, Test) {}

INSTANTIATE_TEST_SUITE_P(Many, Empty, ::testing::Range(0, EMPTY_TESTS));

}  // namespace
