#include "registry.h"

#include <gtest/gtest.h>

TEST(Registry, KeepsWhatIsRegistered) {
  const int before = Registered();
  EXPECT_EQ("png", Register("png").name);
  EXPECT_EQ(before + 1, Registered());
}

TEST(Registry, ForgetsAnother) {
  auto* const plugin = new Plugin{"gif, by a name that is too long for the string itself"};
  EXPECT_EQ("png", Register("png").name);
  EXPECT_EQ('g', plugin->name[0]);
}
