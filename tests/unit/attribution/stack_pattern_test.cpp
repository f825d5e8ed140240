#include "runner/attribution/stack_pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/attribution/frames.h"

namespace leakgate {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::vector<Frame> kStack = {
    InLibstdcxx("operator new(unsigned long)"),
    At("/home/me/src/net/pool.cc", "net::Pool::Grow(unsigned long)"),
    At("/home/me/src/net/client.cc", "net::Client::Connect(net::Url const&)"),
    At("/home/me/tests/http_test.cc", "HttpTest_KeepAlive_Test::TestBody()"),
    InModule("/opt/lib/libnet.so.2", ""),
};

TEST(StackPatternTest, MatchesAFunctionWithoutItsParameters) {
  EXPECT_TRUE(MatchesStack({"net::Pool::Grow"}, kStack));
  EXPECT_TRUE(MatchesStack({"net::*"}, kStack));
  EXPECT_FALSE(MatchesStack({"net::Pool"}, kStack));
  EXPECT_FALSE(MatchesStack({"Pool::Grow"}, kStack));
}

TEST(StackPatternTest, MatchesFramesInOrderWithGaps) {
  EXPECT_TRUE(MatchesStack({"net::Pool::Grow", "*::TestBody"}, kStack));
  EXPECT_FALSE(MatchesStack({"*::TestBody", "net::Pool::Grow"}, kStack));
  EXPECT_FALSE(MatchesStack({"net::Pool::Grow", "net::Pool::Grow"}, kStack));
}

TEST(StackPatternTest, MatchesARelativeFileAtAnyDepth) {
  EXPECT_TRUE(MatchesStack({"net/pool.cc"}, kStack));
  EXPECT_TRUE(MatchesStack({"src/net/*"}, kStack));
  EXPECT_FALSE(MatchesStack({"et/pool.cc"}, kStack));
}

TEST(StackPatternTest, MatchesAFileWithoutAFolder) {
  EXPECT_TRUE(MatchesStack({"*/pool.h"}, {At("pool.h", "Grow()")}));
}

TEST(StackPatternTest, MatchesAnAbsoluteFileAsItIs) {
  EXPECT_TRUE(MatchesStack({"/home/me/src/net/pool.cc"}, kStack));
  EXPECT_FALSE(MatchesStack({"/src/net/pool.cc"}, kStack));
}

TEST(StackPatternTest, MatchesTheFileNameOfAModule) {
  EXPECT_TRUE(MatchesStack({"module:libnet.so*"}, kStack));
  EXPECT_FALSE(MatchesStack({"module:/opt/lib/libnet.so.2"}, kStack));
}

TEST(StackPatternTest, TakesTheDivisionOperatorForAFunction) {
  EXPECT_TRUE(MatchesStack({"net::Url::operator/"}, {In("net::Url::operator/(int)")}));
}

TEST(StackPatternTest, MatchesNoFrameOfWhichNothingIsKnown) {
  for (const char* pattern : {"*", "*/*", "module:*"}) {
    EXPECT_FALSE(MatchesStack({pattern}, {Frame{}})) << pattern;
  }
}

Finding FindingIn(const Frame& frame) {
  Finding finding;
  finding.stack = {InLibstdcxx("operator new(unsigned long)"), frame};
  finding.user_frame = 1;
  return finding;
}

TEST(SuggestPatternTest, NamesTheFunctionOfTheCallSite) {
  EXPECT_THAT(SuggestPattern(FindingIn(At("/src/net/pool.cc", "net::Pool::Grow(int)"))),
              ElementsAre("net::Pool::Grow"));
}

TEST(SuggestPatternTest, NamesTheFileOfATemplateOrLambda) {
  EXPECT_THAT(SuggestPattern(FindingIn(At("/src/net/pool.h", "void net::Make<int>(int)"))),
              ElementsAre("net/pool.h"));
  EXPECT_THAT(SuggestPattern(FindingIn(At("/src/net/a.cc",
                                          "net::Run()::{lambda()#1}::operator()"
                                          "() const"))),
              ElementsAre("net/a.cc"));
  EXPECT_THAT(SuggestPattern(FindingIn(At("pool.h", "net::Make<int>()"))), ElementsAre("*/pool.h"));
}

TEST(SuggestPatternTest, NamesTheModuleIfNothingElseIsKnown) {
  EXPECT_THAT(SuggestPattern(FindingIn(InModule("/opt/lib/libx.so.1", ""))),
              ElementsAre("module:libx.so.1"));
}

TEST(SuggestPatternTest, ProposesNothingForAnUnknownStack) {
  EXPECT_THAT(SuggestPattern(Finding{}), IsEmpty());
  EXPECT_THAT(SuggestPattern(FindingIn(Frame{})), IsEmpty());
}

TEST(SuggestPatternTest, ProposesWhatMatches) {
  for (const Frame& frame : kStack) {
    const Finding finding = FindingIn(frame);
    EXPECT_TRUE(MatchesStack(SuggestPattern(finding), finding.stack)) << frame.function;
  }
}

}  // namespace
}  // namespace leakgate
