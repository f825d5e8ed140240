#include "runner/attribution/stack_pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runner/attribution/suggested_pattern.h"
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

PatternFit FitOf(const std::vector<std::string>& patterns) {
  return FitStack(patterns, NameFrames(kStack), 1).value_or(PatternFit{});
}

TEST(PatternFitTest, IsCloserForTheInnerFrame) {
  EXPECT_TRUE(FitOf({"net::Pool::*"}).IsCloserThan(FitOf({"net::Client::Connect"})));
}

TEST(PatternFitTest, IsCloserForTheLongerPatternOfTheSameFrame) {
  EXPECT_TRUE(FitOf({"net::Pool::Grow"}).IsCloserThan(FitOf({"net::Pool::*"})));
  EXPECT_TRUE(FitOf({"net::Pool::*", "*::TestBody"}).IsCloserThan(FitOf({"net::Pool::Grow"})));
}

TEST(PatternFitTest, TakesFramesWithinTheUsersForTheUsers) {
  EXPECT_TRUE(FitOf({"net::Pool::Grow"}).IsCloserThan(FitOf({"operator new"})));
}

TEST(PatternFitTest, IsFarthestForWildcardsAlone) {
  EXPECT_TRUE(FitOf({"module:libnet*"}).IsCloserThan(FitOf({"*"})));
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

TEST(SuggestPatternTest, NamesTheInstanceOfATemplate) {
  EXPECT_THAT(SuggestPattern(FindingIn(At("/src/net/pool.h", "void net::Make<int>(int)"))),
              ElementsAre("net::Make<int>"));
}

TEST(SuggestPatternTest, NamesALambdaByItsFunction) {
  EXPECT_THAT(SuggestPattern(
                  FindingIn(At("/src/net/a.cc", "net::Run()::{lambda()#1}::operator()() const"))),
              ElementsAre("net::Run()::{lambda()#1}::operator()"));
}

TEST(SuggestPatternTest, NamesTheCallerOfALambdaThatIsInNoFunction) {
  Finding finding = FindingIn(At("/src/net/a.cc", "{lambda()#1}::operator()() const"));
  finding.stack.Edit().push_back(InLibstdcxx("std::function<void ()>::operator()() const"));
  finding.stack.Edit().push_back(At("/src/net/a.cc", "net::Run()"));
  EXPECT_THAT(SuggestPattern(finding), ElementsAre("{lambda()#1}::operator()", "net::Run"));
}

TEST(SuggestPatternTest, NamesTheModuleAndTheNextFunctionThatIsKnown) {
  Finding finding = FindingIn(InModule("/opt/lib/libx.so.1", ""));
  finding.stack.Edit().push_back(At("/src/net/a.cc", "net::Run()"));
  EXPECT_THAT(SuggestPattern(finding), ElementsAre("module:libx.so.1", "net::Run"));
  EXPECT_FALSE(IsOfEveryTest(finding));
}

TEST(SuggestPatternTest, ProposesNoWholeModule) {
  EXPECT_THAT(SuggestPattern(FindingIn(InModule("/opt/lib/libx.so.1", ""))), IsEmpty());
}

TEST(SuggestPatternTest, SaysWhereItNamesNoFunctionButMain) {
  EXPECT_TRUE(IsOfEveryTest(FindingIn(In("main"))));
  EXPECT_FALSE(IsOfEveryTest(FindingIn(In("net::Run()"))));
  Finding without_users = FindingIn(InLibstdcxx("std::string::append(char const*)"));
  without_users.user_frame.reset();
  EXPECT_TRUE(IsOfEveryTest(without_users));
  EXPECT_THAT(SuggestPattern(without_users), ElementsAre("std::string::append"));
}

TEST(SuggestPatternTest, ProposesNothingForAnUnknownStack) {
  EXPECT_THAT(SuggestPattern(Finding{}), IsEmpty());
  EXPECT_THAT(SuggestPattern(FindingIn(Frame{})), IsEmpty());
}

TEST(SuggestPatternTest, ProposesWhatMatches) {
  for (const Frame& frame : kStack) {
    const Finding finding = FindingIn(frame);
    if (frame.function.empty()) continue;
    EXPECT_TRUE(MatchesStack(SuggestPattern(finding), finding.stack)) << frame.function;
  }
}

}  // namespace
}  // namespace leakgate
