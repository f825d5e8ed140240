#include "runner/reach/lost_graph.h"

#include <gmock/gmock.h>

#include <map>
#include <random>
#include <set>

namespace leakgate {
namespace {

using testing::ElementsAre;

using Pointers = std::map<std::uint32_t, std::vector<std::uint32_t>>;

LostGraph GraphOf(const std::vector<std::uint32_t>& made, const Pointers& pointers) {
  LostGraph graph;
  for (std::uint32_t block = 0; block < made.size(); ++block) {
    graph.AddBlock(made[block]);
    const auto own = pointers.find(block);
    if (own == pointers.end()) continue;
    for (const std::uint32_t target : own->second) graph.AddPointer(target);
  }
  return graph;
}

std::vector<std::uint32_t> RootsIn(const std::vector<std::uint32_t>& made,
                                   const Pointers& pointers) {
  std::vector<std::uint32_t> roots;
  for (const LostGraph::Way& way : GraphOf(made, pointers).FindWays()) roots.push_back(way.root);
  return roots;
}

TEST(LostGraphTest, BlocksThatLeadNowhereAreRoots) {
  EXPECT_THAT(RootsIn({0, 0, 0}, {}), ElementsAre(0, 1, 2));
  EXPECT_THAT(RootsIn({}, {}), ElementsAre());
}

TEST(LostGraphTest, AChainHasOneRootWhereverItBegins) {
  EXPECT_THAT(RootsIn({0, 0, 0}, {{0, {1}}, {1, {2}}}), ElementsAre(0, 0, 0));
  EXPECT_THAT(RootsIn({0, 0, 0}, {{2, {1}}, {1, {0}}}), ElementsAre(2, 2, 2));
}

TEST(LostGraphTest, ATreeWhoseNodesKnowTheirParentsHasTheRootThatWasMadeFirst) {
  EXPECT_THAT(RootsIn({7, 8, 9}, {{0, {1, 2}}, {1, {0}}, {2, {0}}}), ElementsAre(0, 0, 0));
  EXPECT_THAT(RootsIn({9, 8, 7}, {{0, {1, 2}}, {1, {0}}, {2, {0}}}), ElementsAre(2, 2, 2));
}

// 3 -> 0 <-> 1, and 1 -> 2.
TEST(LostGraphTest, ACycleThatAnotherBlockLeadsToHasNoRoot) {
  EXPECT_THAT(RootsIn({0, 0, 0, 9}, {{0, {1}}, {1, {0, 2}}, {3, {0}}}), ElementsAre(3, 3, 3, 3));
}

TEST(LostGraphTest, WhatTwoRootsLeadToGoesWithTheOneThatWasMadeFirst) {
  EXPECT_THAT(RootsIn({5, 0, 4}, {{0, {1}}, {2, {1}}}), ElementsAre(0, 2, 2));
  EXPECT_THAT(RootsIn({4, 0, 5}, {{0, {1}}, {2, {1}}}), ElementsAre(0, 0, 2));
}

TEST(LostGraphTest, ParentsAreOfAShortestWay) {
  const auto ways = GraphOf({0, 0, 0, 0}, {{0, {1, 2}}, {1, {3}}, {2, {1}}}).FindWays();
  EXPECT_EQ(ways[1].parent, 0);
  EXPECT_EQ(ways[3].parent, 1);
}

TEST(LostGraphTest, EndsInADeepGraph) {
  constexpr std::uint32_t kDepth = 300'000;
  LostGraph graph;
  for (std::uint32_t block = 0; block < kDepth; ++block) {
    graph.AddBlock(0);
    graph.AddPointer((block + 1) % kDepth);
  }
  EXPECT_EQ(graph.FindWays().back().root, 0);
}

// By the definition: a block is a root if each block that leads to it is one that it leads to, and
// none of these was made before it.
TEST(LostGraphTest, AgreesWithTheDefinitionOnRandomGraphs) {
  std::mt19937 random(7);
  const auto below = [&](std::uint32_t end) { return static_cast<std::uint32_t>(random() % end); };
  for (int round = 0; round < 2000; ++round) {
    const std::uint32_t count = 1 + below(9);
    std::vector<std::uint32_t> made;
    Pointers pointers;
    for (std::uint32_t i = 0; i < count; ++i) made.push_back(below(4));
    for (std::uint32_t i = below(2 * count + 1); i > 0; --i) {
      pointers[below(count)].push_back(below(count));
    }
    std::vector<std::set<std::uint32_t>> leads(count);  // to itself, too
    for (std::uint32_t from = 0; from < count; ++from) {
      std::vector<std::uint32_t> queue{from};
      while (!queue.empty()) {
        const std::uint32_t block = queue.back();
        queue.pop_back();
        if (!leads[from].insert(block).second) continue;
        for (const std::uint32_t target : pointers[block]) queue.push_back(target);
      }
    }
    const auto is_root = [&](std::uint32_t block) {
      for (std::uint32_t other = 0; other < count; ++other) {
        if (!leads[other].contains(block)) continue;
        if (!leads[block].contains(other)) return false;
        if (std::pair(made[other], other) < std::pair(made[block], block)) return false;
      }
      return true;
    };
    const auto ways = GraphOf(made, pointers).FindWays();
    for (std::uint32_t block = 0; block < count; ++block) {
      EXPECT_EQ(ways[block].root == block, is_root(block)) << round << ": " << block;
      EXPECT_TRUE(is_root(ways[block].root)) << round << ": " << block;
      EXPECT_TRUE(leads[ways[block].root].contains(block)) << round << ": " << block;
    }
  }
}

}  // namespace
}  // namespace leakgate
