#include "disk/sync.h"

#include <gtest/gtest.h>

TEST(Sync, DoesNothingWithoutAFile) { EXPECT_EQ(0, disk::Sync("")); }

TEST(Sync, KeepsOneConnection) { EXPECT_LT(0, disk::Sync("a file")); }
