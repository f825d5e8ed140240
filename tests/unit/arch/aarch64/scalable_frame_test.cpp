// Frames of functions that keep vectors of SVE's, whose length only the machine knows.
#include <asm/hwcap.h>
#include <gmock/gmock.h>
#include <sys/auxv.h>

#include "tests/unit/agent/walk.h"

extern "C" void WalkFromScalableFrame(void (*function)(void*), void* argument);

namespace leakgate::test {
namespace {

TEST(ScalableFrameTest, IsWalkedAsLibgccDoes) {
  if ((::getauxval(AT_HWCAP) & HWCAP_SVE) == 0) GTEST_SKIP() << "this processor has no SVE";
  TwoWalks walks;
  WalkFromScalableFrame([](void* to) { WalkHere(*static_cast<TwoWalks*>(to)); }, &walks);
  EXPECT_THAT(walks.ours, testing::SizeIs(testing::Gt(3U)));
  EXPECT_THAT(walks.ours, testing::ElementsAreArray(walks.libgccs));
  EXPECT_EQ(walks.end, UnwindEnd::kOutermost);
}

}  // namespace
}  // namespace leakgate::test
