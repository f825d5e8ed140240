#include "runner/sessions/ended_regions.h"

#include <gmock/gmock.h>

namespace leakgate {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr EndedRegion Awaited(EndedRegion region) {
  region.is_awaited = true;
  return region;
}

TEST(EndedRegionsTest, KeepsAllWithinTheBounds) {
  EXPECT_THAT(RegionsToRelease({{1, 60}, {1, 40}}, {100, 2}), IsEmpty());
}

TEST(EndedRegionsTest, LetsTheOldestGoFirst) {
  EXPECT_THAT(RegionsToRelease({{1, 10}, {1, 60}, {1, 50}}, {100, 9}), ElementsAre(0, 1));
  EXPECT_THAT(RegionsToRelease({{1, 0}, {1, 0}, {1, 0}}, {100, 1}), ElementsAre(0, 1));
}

TEST(EndedRegionsTest, LetsGoOfTheUserWhoHoldsMost) {
  EXPECT_THAT(RegionsToRelease({{2, 50}, {1, 30}, {1, 20}, {1, 10}}, {100, 9}), ElementsAre(1));
  EXPECT_THAT(RegionsToRelease({{2, 1}, {1, 1}, {1, 1}, {1, 1}}, {100, 2}), ElementsAre(1, 2));
}

TEST(EndedRegionsTest, LetsOneGoThatIsLargerThanAllMayBe) {
  EXPECT_THAT(RegionsToRelease({{1, 10}, {2, 101}}, {100, 9}), ElementsAre(1));
}

TEST(EndedRegionsTest, KeepsThoseThatAreAwaitedUpToTwiceTheBounds) {
  EXPECT_THAT(RegionsToRelease({Awaited({1, 90}), {1, 20}, Awaited({1, 90})}, {100, 9}),
              ElementsAre(1));
  EXPECT_THAT(RegionsToRelease({Awaited({1, 90}), Awaited({1, 90}), Awaited({1, 90})}, {100, 9}),
              ElementsAre(0));
  EXPECT_THAT(RegionsToRelease({Awaited({1, 1}), Awaited({1, 1}), Awaited({1, 1})}, {100, 1}),
              ElementsAre(0));
}

}  // namespace
}  // namespace leakgate
