// Each block of the fixture is told as what it is.
#include <gmock/gmock.h>

#include "tests/reachability/traced_program.h"
#include "tests/support/leakgate_run.h"

namespace leakgate::test {
namespace {

using testing::ElementsAre;

// One process for all: it only waits.
class ShapesTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { program_ = new TracedProgram(FixturePath("reachability")); }
  static void TearDownTestSuite() { delete program_; }

  static std::vector<Reach> ReachOf(std::uint64_t size) {
    std::vector<Reach> reaches;
    for (const BlockReach& reach : program_->ReachOf(size)) reaches.push_back(reach.reach);
    return reaches;
  }

  static inline TracedProgram* program_ = nullptr;
};

TEST_F(ShapesTest, AGlobalHolds) { EXPECT_THAT(ReachOf(1001), ElementsAre(Reach::kRetained)); }
TEST_F(ShapesTest, AStaticHolds) { EXPECT_THAT(ReachOf(1002), ElementsAre(Reach::kRetained)); }
TEST_F(ShapesTest, AFunctionsStaticHolds) {
  EXPECT_THAT(ReachOf(1003), ElementsAre(Reach::kRetained));
}
TEST_F(ShapesTest, AMapsNodeHolds) { EXPECT_THAT(ReachOf(1004), ElementsAre(Reach::kRetained)); }
TEST_F(ShapesTest, AThreadLocalHolds) { EXPECT_THAT(ReachOf(1005), ElementsAre(Reach::kRetained)); }
TEST_F(ShapesTest, APointerInsideHolds) {
  EXPECT_THAT(ReachOf(1006), ElementsAre(Reach::kRetained));
}
TEST_F(ShapesTest, APointerPastTheEndDoesNotHold) {
  EXPECT_THAT(ReachOf(1104), ElementsAre(Reach::kLost));
}
TEST_F(ShapesTest, AMappingHolds) { EXPECT_THAT(ReachOf(1007), ElementsAre(Reach::kRetained)); }
TEST_F(ShapesTest, ABlockHolds) {
  EXPECT_THAT(ReachOf(1009), ElementsAre(Reach::kRetained));
  EXPECT_THAT(ReachOf(1010), ElementsAre(Reach::kRetained));
}
TEST_F(ShapesTest, AThreadsStackHolds) {
  EXPECT_THAT(ReachOf(1011), ElementsAre(Reach::kRetained));
}
TEST_F(ShapesTest, TheMainStackHolds) { EXPECT_THAT(ReachOf(1012), ElementsAre(Reach::kRetained)); }

TEST_F(ShapesTest, WhatALostBlockHoldsIsLostWithIt) {
  EXPECT_THAT(ReachOf(1208), ElementsAre(Reach::kLost));
  EXPECT_THAT(ReachOf(1216),
              testing::AllOf(testing::SizeIs(10), testing::Each(Reach::kIndirectlyLost)));
}
TEST_F(ShapesTest, OfACycleOneIsLostAndTheOtherWithIt) {
  EXPECT_THAT(ReachOf(1336), ElementsAre(Reach::kLost, Reach::kIndirectlyLost));
}
TEST_F(ShapesTest, AHiddenPointerDoesNotHold) {
  EXPECT_THAT(ReachOf(1401), ElementsAre(Reach::kLost));
}
TEST_F(ShapesTest, ADeadFrameDoesNotHold) { EXPECT_THAT(ReachOf(1402), ElementsAre(Reach::kLost)); }
TEST_F(ShapesTest, AnEndedThreadsStackDoesNotHold) {
  EXPECT_THAT(ReachOf(1403), ElementsAre(Reach::kLost, Reach::kLost));
}
TEST_F(ShapesTest, FreeMemoryOfAnotherArenaDoesNotHold) {
  EXPECT_THAT(ReachOf(1404), ElementsAre(Reach::kLost));
  EXPECT_THAT(ReachOf(1405), ElementsAre(Reach::kIndirectlyLost));
}

}  // namespace
}  // namespace leakgate::test
