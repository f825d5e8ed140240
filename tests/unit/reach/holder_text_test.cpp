#include <gtest/gtest.h>

#include "runner/reach/reach.h"

namespace leakgate {
namespace {

std::string SiteOf(std::uint32_t stack) { return stack == 7 ? "net::Pool::Grow (pool.cc:88)" : ""; }

TEST(HolderTextTest, NamesTheRootAloneWhereItHoldsTheBlock) {
  EXPECT_EQ(HolderText({.root = "g_cache (net/cache.cc:12)"}, SiteOf), "g_cache (net/cache.cc:12)");
}

TEST(HolderTextTest, NamesEachBlockBetween) {
  const HolderChain chain{.root = "g_cache",
                          .links = {{.size_bytes = 64, .stack = 7}, {.size_bytes = 48}}};
  EXPECT_EQ(HolderText(chain, SiteOf),
            "g_cache -> 64 B allocated by net::Pool::Grow (pool.cc:88) -> 48 B");
}

TEST(HolderTextTest, CountsWhatIsLeftOut) {
  const HolderChain chain{.root = "g_cache", .hidden = 12, .links = {{.size_bytes = 64}}};
  EXPECT_EQ(HolderText(chain, SiteOf), "g_cache -> ... 12 more -> 64 B");
}

TEST(HolderTextTest, TellsOfOddPointersAndOfBlocksThatWereNotSeen) {
  const HolderChain chain{.root = "g_cache",
                          .links = {{.size_bytes = 200, .stack = kUnseenStack}},
                          .way = OddWay::kUnaligned};
  EXPECT_EQ(
      HolderText(chain, SiteOf),
      "g_cache -> 200 B that leakgate did not see allocated, by a pointer that is not aligned");
}

TEST(HolderTextTest, SaysNothingOfNoHolder) { EXPECT_EQ(HolderText({}, SiteOf), ""); }

}  // namespace
}  // namespace leakgate
