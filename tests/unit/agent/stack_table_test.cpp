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
    return InternAll({outer, inner});
  }

  // From the outermost frame inwards.
  static agent::StackTable::Interned InternAll(const std::vector<std::uint64_t>& pcs) {
    agent::StackTrail trail{};
    trail.end = UnwindEnd::kOutermost;
    for (const std::uint64_t pc : pcs) trail.frames[trail.depth++].pc = kPcs + pc;
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

TEST_F(StackTableTest, FindsEveryStackThatBranchesOffALongOne) {
  const std::vector<std::uint64_t> way{21, 22, 23, 24, 25, 26};
  std::set<std::uint32_t> ids{InternAll(way).id};
  for (std::size_t kept = 1; kept < way.size(); ++kept) {
    std::vector<std::uint64_t> branch(way.begin(), way.begin() + static_cast<std::ptrdiff_t>(kept));
    EXPECT_FALSE(InternAll(branch).is_new) << "the long one's outer frames are a stack, too";
    branch.insert(branch.end(), {31, 32, 33});
    const agent::StackTable::Interned stack = InternAll(branch);
    EXPECT_TRUE(stack.is_new);
    EXPECT_EQ(InternAll(branch).id, stack.id);
    EXPECT_EQ(PcsOf(stack.id), std::vector<std::uint64_t>(branch.rbegin(), branch.rend()));
    ids.insert(stack.id);
  }
  EXPECT_EQ(ids.size(), way.size());
  EXPECT_EQ(PcsOf(InternAll(way).id), std::vector<std::uint64_t>(way.rbegin(), way.rend()));
}

TEST_F(StackTableTest, TellsTheTrailWhichNodeEachFrameHas) {
  agent::StackTrail trail{};
  trail.end = UnwindEnd::kOutermost;
  trail.depth = 4;
  for (std::uint32_t i = 0; i < trail.depth; ++i) trail.frames[i].pc = kPcs + 41 + i;
  const std::uint32_t all = agent::g_stacks.Intern(0, trail).id;
  EXPECT_EQ(trail.frames[3].node, all);
  EXPECT_EQ(PcsOf(trail.frames[1].node), (std::vector<std::uint64_t>{42, 41}));

  trail.depth = 3;
  trail.frames[2].pc = kPcs + 51;
  const std::uint32_t branch = agent::g_stacks.Intern(2, trail).id;
  EXPECT_EQ(PcsOf(branch), (std::vector<std::uint64_t>{51, 42, 41}));
}

TEST_F(StackTableTest, CutsAStackWhereTheTableIsFull) {
  auto& count = agent::g_region.header().stack_node_count;
  const std::uint32_t before = count.load();
  count.store(kMaxStackNodes - 2);
  const std::uint32_t id = InternAll({61, 62, 63, 64}).id;
  EXPECT_EQ(PcsOf(id), (std::vector<std::uint64_t>{62, 61}));
  EXPECT_EQ(count.load(), kMaxStackNodes);
  EXPECT_EQ(InternAll({61, 62, 63, 64}).id, id);

  count.store(kMaxStackNodes + 7);  // as no agent writes it
  EXPECT_EQ(InternAll({61, 62, 63, 64}).id, id);
  EXPECT_EQ(count.load(), kMaxStackNodes + 7);
  count.store(before);
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
        mine.push_back(InternAll({10'000 + i / kCallees, i % kCallees, 1, 2}).id);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<std::uint32_t>& mine : ids) EXPECT_EQ(mine, ids[0]);
  EXPECT_EQ(std::set<std::uint32_t>(ids[0].begin(), ids[0].end()).size(), kCallers * kCallees);
}

}  // namespace
}  // namespace leakgate::test
