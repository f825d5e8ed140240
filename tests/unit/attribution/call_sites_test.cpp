#include "runner/attribution/call_sites.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/attribution/frames.h"

namespace leakgate {
namespace {

Frame Nameless(std::uint64_t offset) {
  Frame frame = In("");
  frame.module_offset = offset;
  return frame;
}

Finding SiteOf(std::vector<Frame> frames, UnwindEnd end = UnwindEnd::kOutermost) {
  CallSites sites([&](std::uint32_t) { return ResolvedStack{frames, end}; });
  return sites.Of(1).finding;
}

std::string KeyOf(std::vector<Frame> frames, UnwindEnd end = UnwindEnd::kOutermost) {
  return CallSiteKey(SiteOf(std::move(frames), end));
}

TEST(CallSitesTest, LookAtEachStackOnce) {
  int looks = 0;
  CallSites sites([&](std::uint32_t) {
    ++looks;
    return ResolvedStack{{In("net::Grow()")}, UnwindEnd::kOutermost};
  });

  const CallSite& first = sites.Of(1);

  EXPECT_EQ(&sites.Of(1), &first);
  EXPECT_EQ(looks, 1);
}

TEST(CallSitesTest, KeepHowTheStackEnds) {
  EXPECT_EQ(SiteOf({In("net::Grow()")}, UnwindEnd::kDepthLimit).stack_end, UnwindEnd::kDepthLimit);
}

TEST(CallSiteKeyTest, IsTheUsersFrameWhoeverCallsIt) {
  EXPECT_EQ(KeyOf({InLibc("strdup"), At("pool.cc", "net::Grow()", 8), In("A_B_Test::TestBody()")}),
            KeyOf({At("pool.cc", "net::Grow()", 8), In("A_C_Test::TestBody()"), In("main")}));
}

TEST(CallSiteKeyTest, IsTheSameAtAnyAddressOfALine) {
  Frame elsewhere = At("pool.cc", "net::Grow()", 8);
  elsewhere.module_offset = 0x1234;

  EXPECT_EQ(KeyOf({elsewhere}), KeyOf({At("pool.cc", "net::Grow()", 8)}));
}

TEST(CallSiteKeyTest, DiffersByFunctionFileAndLine) {
  const std::string key = KeyOf({At("pool.cc", "net::Grow()", 8)});

  EXPECT_NE(KeyOf({At("pool.cc", "net::Shrink()", 8)}), key);
  EXPECT_NE(KeyOf({At("cache.cc", "net::Grow()", 8)}), key);
  EXPECT_NE(KeyOf({At("pool.cc", "net::Grow()", 9)}), key);
}

TEST(CallSiteKeyTest, DiffersByAddressWhereTheFunctionHasNoName) {
  EXPECT_NE(KeyOf({Nameless(1)}), KeyOf({Nameless(2)}));
}

TEST(CallSiteKeyTest, IsTheWholeStackWhereNoFrameIsTheUsers) {
  const std::string key = KeyOf({InLibc("a"), InLibc("b")});

  EXPECT_NE(KeyOf({InLibc("a"), InLibc("c")}), key);
  EXPECT_NE(KeyOf({InLibc("a"), InLibc("b")}, UnwindEnd::kDepthLimit), key);
  EXPECT_EQ(KeyOf({InLibc("a"), InLibc("b")}), key);
}

std::string SharedKeyOf(std::vector<Frame> frames) {
  return SharedPathKey(SiteOf(std::move(frames)));
}

TEST(SharedPathKeyTest, IsTheSameForAllTestsThatCallTheSame) {
  EXPECT_EQ(SharedKeyOf({InLibc("strdup"), In("net::Grow()"), In("A_B_Test::TestBody()")}),
            SharedKeyOf({InLibc("strdup"), In("net::Grow()"), In("A_C_Test::TestBody()")}));
}

TEST(SharedPathKeyTest, DiffersByWhatCallsAFunctionThatAllocatesForMany) {
  EXPECT_NE(SharedKeyOf({In("Allocate()"), In("net::Grow()"), In("A_B_Test::TestBody()")}),
            SharedKeyOf({In("Allocate()"), In("net::Start()"), In("A_B_Test::TestBody()")}));
}

TEST(SharedPathKeyTest, IsTheTestItselfWhereThatAllocates) {
  EXPECT_NE(SharedKeyOf({InLibc("strdup"), In("A_B_Test::TestBody()")}),
            SharedKeyOf({InLibc("strdup"), In("A_C_Test::TestBody()")}));
}

TEST(CallStackKeyTest, DiffersByEachFrame) {
  EXPECT_NE(CallStackKey(SiteOf({In("net::Grow()"), In("A_B_Test::TestBody()")})),
            CallStackKey(SiteOf({In("net::Grow()"), In("A_C_Test::TestBody()")})));
}

TEST(DescribeCallSiteTest, NamesTheUsersFunctionAndItsLine) {
  EXPECT_EQ(DescribeCallSite(SiteOf({InLibc("strdup"), At("pool.cc", "net::Pool::Grow(int)", 8)})),
            "net::Pool::Grow (pool.cc:8)");
}

TEST(DescribeCallSiteTest, NamesTheFunctionAloneWhereItsFileIsNotKnown) {
  EXPECT_EQ(DescribeCallSite(SiteOf({In("net::Pool::Grow(int)")})), "net::Pool::Grow");
}

TEST(DescribeCallSiteTest, NamesThePlaceInTheModuleWhereThereIsNoFunction) {
  EXPECT_EQ(DescribeCallSite(SiteOf({Nameless(0x1a2b)})), "/src/build/net_test+0x1a2b");
}

TEST(DescribeCallSiteTest, NamesTheInnermostFrameWhereNoneIsTheUsers) {
  EXPECT_EQ(DescribeCallSite(SiteOf({InLibc("a"), InLibc("b")})), "a");
}

TEST(DescribeCallSiteTest, SaysThatNothingIsKnownOfAnEmptyStack) {
  EXPECT_EQ(DescribeCallSite(SiteOf({})), "an unknown call site");
}

}  // namespace
}  // namespace leakgate
