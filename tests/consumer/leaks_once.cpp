#include <gtest/gtest.h>

// The compiler must not remove the allocation.
static int* volatile made = nullptr;

TEST(Consumer, LeaksOnce) {
  made = new int(7);
  EXPECT_EQ(7, *made);
  made = nullptr;
}

TEST(Consumer, LeaksNothing) { EXPECT_EQ(nullptr, made); }
