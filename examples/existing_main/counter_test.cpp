#include <gtest/gtest.h>

struct Counter {
  int count = 0;
};

Counter* Started() { return new Counter{1}; }

TEST(Counter, IsDeleted) {
  Counter* counter = Started();
  EXPECT_EQ(1, counter->count);
  delete counter;
}

TEST(Counter, IsForgotten) { EXPECT_EQ(1, Started()->count); }
