#include "plugin/agent/record/stack_table.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

#include "tests/unit/agent/traced_region.h"

namespace leakgate::test {
namespace {

// Stacks of one outer frame and one that it calls, at pcs that no other test has.
class StackTableTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { TracedRegion(); }

  static agent::StackTable::Interned Intern(std::uint64_t outer, std::uint64_t inner) {
    agent::StackTrail trail{};
    trail.end = UnwindEnd::kOutermost;
    trail.depth = 2;
    trail.frames[0].pc = kPcs + outer;
    trail.frames[1].pc = kPcs + inner;
    return agent::g_stacks.Intern(0, trail);
  }

  static std::vector<std::uint64_t> PcsOf(std::uint32_t id) {
    std::vector<std::uint64_t> pcs;
    for (const RawStack::Frame& frame : TracedRegion().reader().Stack(id).frames) {
      pcs.push_back(frame.pc - kPcs);
    }
    return pcs;
  }

  static constexpr std::uint64_t kPcs = 0x5AC7'0000'0000;
};

// As many as fit into a caller's list, and many that do not.
TEST_F(StackTableTest, FindsEveryCalleeOfACallerAgain) {
  constexpr std::uint64_t kCallees = 20'000;
  std::set<std::uint32_t> ids;
  for (std::uint64_t callee = 0; callee < kCallees; ++callee) {
    const agent::StackTable::Interned stack = Intern(1, 1000 + callee);
    EXPECT_TRUE(stack.is_new);
    ids.insert(stack.id);
  }
  EXPECT_EQ(ids.size(), kCallees);
  for (std::uint64_t callee = 0; callee < kCallees; ++callee) {
    const agent::StackTable::Interned stack = Intern(1, 1000 + callee);
    ASSERT_FALSE(stack.is_new);
    ASSERT_EQ(PcsOf(stack.id), (std::vector<std::uint64_t>{1000 + callee, 1}));
  }
}

TEST_F(StackTableTest, TellsTheSameCalleeOfTwoCallersApart) {
  const std::uint32_t of_one = Intern(2, 5).id;
  const std::uint32_t of_other = Intern(3, 5).id;
  EXPECT_EQ(PcsOf(of_one), (std::vector<std::uint64_t>{5, 2}));
  EXPECT_EQ(PcsOf(of_other), (std::vector<std::uint64_t>{5, 3}));
}

TEST_F(StackTableTest, GivesTheSameIdsToThreadsThatInternAtOnce) {
  constexpr std::uint64_t kCallers = 500;
  constexpr std::uint64_t kCallees = 20;
  std::vector<std::vector<std::uint32_t>> ids(4);
  std::vector<std::thread> threads;
  threads.reserve(ids.size());
  for (std::vector<std::uint32_t>& mine : ids) {
    threads.emplace_back([&mine] {
      for (std::uint64_t i = 0; i < kCallers * kCallees; ++i) {
        mine.push_back(Intern(10'000 + i / kCallees, i % kCallees).id);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<std::uint32_t>& mine : ids) EXPECT_EQ(mine, ids[0]);
  EXPECT_EQ(std::set<std::uint32_t>(ids[0].begin(), ids[0].end()).size(), kCallers * kCallees);
}

}  // namespace
}  // namespace leakgate::test
