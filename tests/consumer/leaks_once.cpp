#include <gtest/gtest.h>

// Reachable from here, so that no compiler removes the allocation.
static int* volatile kept = nullptr;

TEST(Consumer, LeaksOnce) {
  kept = new int(7);
  EXPECT_EQ(7, *kept);
}

TEST(Consumer, LeaksNothing) { EXPECT_NE(nullptr, kept); }
