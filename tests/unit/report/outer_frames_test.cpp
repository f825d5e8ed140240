#include <gtest/gtest.h>

#include "runner/report/finding_text.h"
#include "tests/unit/report/sample_results.h"

namespace leakgate {
namespace {

using sample::FindingWith;
using sample::FrameOf;
using sample::NamelessFrame;

TEST(OuterFramesTest, AreGoogleTestsAndMainsBelowATest) {
  const OuterFrames outer = FindOuterFrames(sample::PoolFinding());

  EXPECT_EQ(outer.begin, 5U);
  EXPECT_EQ(outer.description, "GoogleTest and main");
}

TEST(OuterFramesTest, AreNoneWhereTheOutermostFrameIsTheUsers) {
  EXPECT_EQ(FindOuterFrames(FindingWith({FrameOf("a()"), FrameOf("b()")})).begin, 2U);
}

TEST(OuterFramesTest, EndAtTheUsersCodeBetweenThem) {
  const Finding finding = FindingWith(
      {FrameOf("a()"), FrameOf("testing::Test::Run()"), FrameOf("MyRunner()"), FrameOf("main")});

  const OuterFrames outer = FindOuterFrames(finding);

  EXPECT_EQ(outer.begin, 3U);
  EXPECT_EQ(outer.description, "main");
}

TEST(OuterFramesTest, NeverReachTheUsersOwnFrame) {
  EXPECT_EQ(FindOuterFrames(FindingWith({FrameOf("main"), FrameOf("_start")})).begin, 1U);
}

TEST(OuterFramesTest, LeaveTheInnermostFrameOfAStackWithoutAUserFrame) {
  Finding finding = FindingWith({FrameOf("testing::A()"), FrameOf("main")});
  finding.user_frame.reset();

  EXPECT_EQ(FindOuterFrames(finding).begin, 1U);
}

TEST(OuterFramesTest, NameAThreadsStart) {
  const Finding finding = FindingWith(
      {FrameOf("Work()"), FrameOf("void std::__invoke_impl<void, Fn>(std::__invoke_other, Fn&&)"),
       FrameOf("std::thread::_State_impl<Fn>::_M_run()"), FrameOf("execute_native_thread_routine"),
       FrameOf("start_thread"), FrameOf("clone3")});

  const OuterFrames outer = FindOuterFrames(finding);

  EXPECT_EQ(outer.begin, 1U);
  EXPECT_EQ(outer.description, "the thread's start");
}

TEST(OuterFramesTest, NameTheCLibraryWhereThereIsNoMain) {
  const Finding finding = FindingWith(
      {FrameOf("_GLOBAL__sub_I_pool.cc"), NamelessFrame("/lib/libc.so.6", 1), FrameOf("_start")});

  EXPECT_EQ(FindOuterFrames(finding).description, "the C library");
}

TEST(OuterFramesTest, LeaveAMainThatCallsTheUsersCodeItself) {
  const Finding finding =
      FindingWith({FrameOf("f()"), FrameOf("main"), NamelessFrame("/lib/libc.so.6", 1)});

  EXPECT_EQ(FindOuterFrames(finding).begin, 2U);
}

TEST(OuterFramesTest, TakeInNamelessFramesOfTheCLibrary) {
  const Finding finding = FindingWith({FrameOf("f()"), FrameOf("testing::Test::Run()"),
                                       FrameOf("main"), NamelessFrame("/lib/libc.so.6", 1)});

  EXPECT_EQ(FindOuterFrames(finding).begin, 1U);
}

TEST(OuterFramesTest, DoNotHideNamelessFramesOfOtherModules) {
  const Finding finding = FindingWith({FrameOf("f()"), NamelessFrame("/opt/libplugin.so", 1)});

  EXPECT_EQ(FindOuterFrames(finding).begin, 2U);
}

}  // namespace
}  // namespace leakgate
