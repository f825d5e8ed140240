#include "net/pool.h"

#include <gtest/gtest.h>

TEST(Pool, NumbersConnections) {
  net::Pool pool;
  EXPECT_EQ(1, pool.Open()->number);
  EXPECT_EQ(2, pool.Open()->number);
}
