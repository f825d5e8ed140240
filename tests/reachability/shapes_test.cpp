// Looks at each block of the fixture `reachability`, which says what it is.
#include <gmock/gmock.h>

#include <initializer_list>
#include <regex>
#include <set>

#include "tests/reachability/traced_program.h"
#include "tests/support/leakgate_run.h"
#include "tests/support/processor.h"

namespace leakgate::test {
namespace {

using testing::ElementsAre;
using testing::MatchesRegex;
using testing::StartsWith;
using testing::UnorderedElementsAre;

// All tests look at one process, which only waits.
class ShapesTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { program_ = new TracedProgram(FixturePath("reachability")); }
  static void TearDownTestSuite() { delete program_; }

  static std::vector<Reach> ReachOf(std::uint64_t size) {
    std::vector<Reach> reaches;
    for (const BlockReach& reach : program_->ReachOf(size)) reaches.push_back(reach.reach);
    return reaches;
  }

  // Returns the text of the holder of the first block of that size; its links are told by their
  // sizes.
  static std::string HolderOf(std::uint64_t size) {
    const std::vector<BlockReach> reaches = program_->ReachOf(size);
    if (reaches.empty()) return "no such block";
    if (reaches.front().holder == nullptr) return "";
    return HolderText(*reaches.front().holder, [](auto) { return ""; });
  }

  static inline TracedProgram* program_ = nullptr;
};

// The fixture gives each shape a size of its own.
struct Shape {
  std::uint64_t size;
  const char* description;
};

TEST_F(ShapesTest, BlocksThatAreHeldAreRetained) {
  for (const Shape& shape : std::initializer_list<Shape>{
           {1001, "by a global"},
           {1002, "by a static"},
           {1003, "by a function's static"},
           {1004, "by a map's node"},
           {1005, "by a thread-local"},
           {1006, "by a pointer inside the block"},
           {1007, "by a mapping"},
           {1009, "by a block"},
           {1010, "by a chain of blocks"},
           {1011, "by a thread's stack"},
           {1012, "by the main stack"},
           {1104, "by a pointer past the end"},
       }) {
    EXPECT_THAT(ReachOf(shape.size), ElementsAre(Reach::kRetained)) << shape.description;
  }
}

TEST_F(ShapesTest, BlocksThatNothingHoldsAreLost) {
  for (const Shape& shape : std::initializer_list<Shape>{
           {1208, "the first of lost blocks"},
           {1401, "a hidden pointer"},
           {1402, "a dead frame"},
           {1404, "free memory of another arena"},
           {1407, "the rest of a block's chunk"},
       }) {
    EXPECT_THAT(ReachOf(shape.size), ElementsAre(Reach::kLost)) << shape.description;
  }
}

// Without a look at other blocks: by pointers to those alone.
TEST_F(ShapesTest, BlocksAreLostWhereNothingLeadsToThem) {
  for (const std::uint64_t held : std::initializer_list<std::uint64_t>{
           1001, 1002, 1003, 1004, 1005, 1006, 1007, 1009, 1010, 1011, 1012, 1104}) {
    EXPECT_FALSE(program_->AreAllLost({held})) << held;
    EXPECT_FALSE(program_->AreAllLost({1401, held})) << held;
  }
  // By blocks that may be lost themselves, or freed.
  for (const std::uint64_t led_to : std::initializer_list<std::uint64_t>{1216, 1405})
    EXPECT_FALSE(program_->AreAllLost({led_to}));
  for (const std::uint64_t lost :
       std::initializer_list<std::uint64_t>{1208, 1336, 1401, 1402, 1403, 1407}) {
    EXPECT_TRUE(program_->AreAllLost({lost})) << lost;
  }
  EXPECT_TRUE(program_->AreAllLost({1208, 1216, 1336, 1401, 1402, 1403, 1407}));
}

TEST_F(ShapesTest, AnEndedThreadsStackDoesNotHold) {
  EXPECT_THAT(ReachOf(1403), ElementsAre(Reach::kLost, Reach::kLost));
}
TEST_F(ShapesTest, WhatALostBlockHoldsIsLostWithIt) {
  EXPECT_THAT(ReachOf(1216),
              testing::AllOf(testing::SizeIs(10), testing::Each(Reach::kIndirectlyLost)));
  EXPECT_THAT(ReachOf(1405), ElementsAre(Reach::kIndirectlyLost));
}
TEST_F(ShapesTest, OfACycleOneIsLostAndTheOtherWithIt) {
  EXPECT_THAT(ReachOf(1336), ElementsAre(Reach::kLost, Reach::kIndirectlyLost));
}

// Leaves out folders and the numbers of threads: "g_cache (reachability.cpp:12)".
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
  const std::string place = kCompilerPlacesThreadLocals ? " .reachability.cpp:[0-9]+." : "";
  EXPECT_THAT(Plain(HolderOf(1005)), MatchesRegex("shapes::t_held_by_thread_local" + place +
                                                  ", a thread-local of thread N 'reachability'"));
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

TEST_F(ShapesTest, OfAllBlocksAtOnceTheSameIsToldAsOfEach) {
  Variables variables;
  const auto heap = FindReachOfAll({program_->pid(), program_->region(), {}, variables});
  ASSERT_TRUE(heap);
  ASSERT_EQ(heap->reaches.size(), heap->blocks.size());
  const auto reaches = FindReach({program_->pid(), program_->region(), heap->blocks, variables});
  ASSERT_TRUE(reaches);
  ASSERT_EQ(reaches->size(), heap->blocks.size());
  std::set<Reach> seen;
  for (std::size_t i = 0; i < heap->blocks.size(); ++i) {
    EXPECT_EQ(heap->reaches[i], (*reaches)[i].reach) << heap->blocks[i].size_bytes;
    seen.insert(heap->reaches[i]);
  }
  EXPECT_THAT(seen, UnorderedElementsAre(Reach::kLost, Reach::kIndirectlyLost, Reach::kRetained));
}

}  // namespace
}  // namespace leakgate::test
