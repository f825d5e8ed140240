// Each block of the fixture is told as what it is.
#include <gmock/gmock.h>

#include <regex>

#include "tests/reachability/traced_program.h"
#include "tests/support/leakgate_run.h"

namespace leakgate::test {
namespace {

using testing::ElementsAre;
using testing::MatchesRegex;
using testing::StartsWith;

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

  // The one block's holder, its links by their sizes.
  static std::string HolderOf(std::uint64_t size) {
    const std::vector<BlockReach> reaches = program_->ReachOf(size);
    return reaches.empty() ? "no such block"
                           : HolderText(reaches.front().holder, [](auto) { return ""; });
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

// "g_cache (reachability.cpp:12)": the folders left out, and the numbers of threads.
std::string Plain(const std::string& holder) {
  const std::string in_files = std::regex_replace(holder, std::regex("\\([^ ]*/"), "(");
  return std::regex_replace(in_files, std::regex("thread [0-9]+"), "thread N");
}

TEST_F(ShapesTest, AGlobalIsNamedWithItsDeclaration) {
  EXPECT_THAT(Plain(HolderOf(1001)),
              MatchesRegex("shapes::g_held_by_global .reachability.cpp:[0-9]+."));
  EXPECT_THAT(Plain(HolderOf(1002)),
              MatchesRegex("shapes::s_held_by_static .reachability.cpp:[0-9]+."));
}

TEST_F(ShapesTest, AFunctionsStaticIsNamedWithItsFunction) {
  EXPECT_THAT(HolderOf(1003), StartsWith("shapes::HeldByFunctionStatic()::held ("));
}

TEST_F(ShapesTest, EachBlockOfAChainIsNamed) {
  EXPECT_THAT(Plain(HolderOf(1004)),
              MatchesRegex("shapes::g_map .reachability.cpp:[0-9]+. -> 48 B"));
  EXPECT_THAT(HolderOf(1010), testing::EndsWith(" -> 1008 B -> 1009 B"));
}

TEST_F(ShapesTest, AThreadLocalIsNamedWithItsThread) {
  EXPECT_THAT(Plain(HolderOf(1005)),
              MatchesRegex("shapes::t_held_by_thread_local .reachability.cpp:[0-9]+., a "
                           "thread-local of thread N 'reachability'"));
}

TEST_F(ShapesTest, AStackIsNamedByItsThread) {
  EXPECT_EQ(Plain(HolderOf(1011)), "the stack of thread N 'holder'");
  EXPECT_EQ(Plain(HolderOf(1012)), "the stack of thread N 'reachability'");
}

TEST_F(ShapesTest, AMappingIsNamedByItsAddresses) {
  EXPECT_THAT(HolderOf(1007), StartsWith("an anonymous mapping (0x"));
}

TEST_F(ShapesTest, ALostBlockHasNoHolder) { EXPECT_EQ(HolderOf(1401), ""); }

TEST_F(ShapesTest, NothingIsToldOfABlockThatIsGone) {
  const std::vector<LiveBlock> gone = {{.address = 0x1000, .size_bytes = 16}};
  Variables variables;
  const auto reaches = FindReach({program_->pid(), program_->region(), gone, variables});
  ASSERT_TRUE(reaches);
  EXPECT_EQ(reaches->front().reach, Reach::kUnknown);
}

}  // namespace
}  // namespace leakgate::test
