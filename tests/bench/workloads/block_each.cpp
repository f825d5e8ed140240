// TESTS tests of which each loses a block: how verdicts grow with their number.
#include <gtest/gtest.h>

#include <cstdlib>

#include "timing.h"

namespace {

class Each : public testing::TestWithParam<int> {};

TEST_P(Each, Loses) { bench::Use(std::malloc(40)); }

INSTANTIATE_TEST_SUITE_P(Many, Each, testing::Range(0, TESTS));

}  // namespace
