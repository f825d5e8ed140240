#include "runner/report/finding_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/report/sample_results.h"

namespace leakgate {
namespace {

using sample::FindingWith;
using sample::FrameOf;
using sample::NamelessFrame;
using sample::PoolFinding;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string TextOf(const Finding& finding) {
  return FindingText(finding, {Colour::kOff, sample::kProject});
}

TEST(FindingTextTest, BeginsWithTheAmountAndTheKind) {
  EXPECT_THAT(TextOf(PoolFinding({64, 1})), StartsWith("  64 B in 1 block, new\n"));
}

TEST(FindingTextTest, NamesEachKind) {
  Finding finding = PoolFinding();
  finding.kind = AllocationKind::kMalloc;
  EXPECT_THAT(TextOf(finding), HasSubstr(", malloc\n"));
  finding.kind = AllocationKind::kNewArray;
  EXPECT_THAT(TextOf(finding), HasSubstr(", new[]\n"));
}

TEST(FindingTextTest, ShowsWhatALostBlockBeginsWith) {
  Finding finding = PoolFinding({20, 1});
  finding.contents = "48656c6c6f2c20776f726c6421000aff7f417a00";
  EXPECT_THAT(TextOf(finding),
              StartsWith("  20 B in 1 block, new\n"
                         "    48 65 6c 6c 6f 2c 20 77 6f 72 6c 64 21 00 0a ff  |Hello, world!...|\n"
                         "    7f 41 7a 00                                      |.Az.|\n"
                         "  > "));
  finding.contents = "01" + std::string(126, '0');
  EXPECT_THAT(TextOf(finding), HasSubstr("|................|\n  > "));
  finding.contents = std::string(128, '0');
  EXPECT_THAT(TextOf(finding), StartsWith("  20 B in 1 block, new\n  > "));
}

TEST(FindingTextTest, PutsTheUsersOwnFrameFirstAndMarksIt) {
  EXPECT_THAT(TextOf(PoolFinding()),
              StartsWith("  64 B in 1 block, new\n  > net::Pool::Grow(unsigned long) "));
}

TEST(FindingTextTest, AlignsWhereTheFramesAre) {
  EXPECT_THAT(TextOf(PoolFinding()),
              HasSubstr("    net::Client::Connect(net::Url const&)  src/net/client.cc:41\n"
                        "    HttpTest_KeepAlive_Test::TestBody()    tests/http_test.cc:27\n"));
}

TEST(FindingTextTest, NamesWhatTheUsersFrameAllocatedThrough) {
  EXPECT_THAT(TextOf(PoolFinding()),
              HasSubstr("src/net/pool.cc:88\n"
                        "      through std::vector::push_back, std::__new_allocator::allocate\n"));
}

TEST(FindingTextTest, ShortensALongWayThrough) {
  Finding finding = FindingWith({FrameOf("f()"), FrameOf("e()"), FrameOf("d()"), FrameOf("c()"),
                                 FrameOf("b()"), FrameOf("a()"), FrameOf("Own()")});
  finding.user_frame = 6;

  EXPECT_THAT(TextOf(finding), HasSubstr("through a, b, c, ... 2 more, f\n"));
}

TEST(FindingTextTest, NamesARecursiveWayThroughOnce) {
  Finding finding = FindingWith({FrameOf("a()"), FrameOf("a()"), FrameOf("Own()")});
  finding.user_frame = 2;

  EXPECT_THAT(TextOf(finding), HasSubstr("through a\n"));
}

TEST(FindingTextTest, FoldsFramesOfTheCppLibraryAndOfTheCompilerBetweenTheUsers) {
  const Finding finding = FindingWith(
      {FrameOf("Own()", "a.cc", 1), FrameOf("std::function<void ()>::operator()() const"),
       FrameOf("std::for_each<int*, void (*)()>(int*, int*, void (*)())"),
       FrameOf("Caller()", "a.cc", 2), FrameOf("non-virtual thunk to Base::Call()"),
       FrameOf("Outer()", "a.cc", 3)});

  EXPECT_THAT(TextOf(finding), HasSubstr("  > Own()     a.cc:1\n"
                                         "    Caller()  a.cc:2\n"
                                         "      through std::for_each, std::function::operator()\n"
                                         "    Outer()   a.cc:3\n"
                                         "      through Base::Call\n"));
}

TEST(FindingTextTest, FoldsNoFrameByWhichTwoFindingsDiffer) {
  const Frame own = FrameOf("Own()", "a.cc", 1);
  const Frame caller = FrameOf("Caller()", "a.cc", 2);
  const Finding one = FindingWith({own, FrameOf("std::visit<A>()", "", 0), caller});
  const Finding other = FindingWith({own, FrameOf("std::visit<B>()", "", 0), caller});

  const std::string text = FirstFindingsText({&one, &other}, "more finding", {Colour::kOff, ""});
  EXPECT_THAT(text, HasSubstr("\n    std::visit<A>()"));
  EXPECT_THAT(text, HasSubstr("\n    std::visit<B>()"));
}

TEST(FindingTextTest, TellsGoogleTestAndMainInOneLine) {
  EXPECT_THAT(TextOf(PoolFinding()), HasSubstr("\n    ... 5 frames of GoogleTest and main\n"));
  EXPECT_THAT(TextOf(PoolFinding()), Not(HasSubstr("testing::")));
}

TEST(FindingTextTest, MarksInlinedFrames) {
  Finding finding = FindingWith({FrameOf("f()"), FrameOf("g()")});
  finding.stack.Edit()[0].inlined = true;

  EXPECT_THAT(TextOf(finding), HasSubstr("  > f() [inlined]"));
}

TEST(FindingTextTest, MarksNoFrameWhereNoneIsTheUsers) {
  Finding finding = FindingWith({FrameOf("strdup"), FrameOf("setlocale")});
  finding.user_frame.reset();

  EXPECT_THAT(TextOf(finding), Not(HasSubstr("> ")));
  EXPECT_THAT(TextOf(finding), HasSubstr("    strdup "));
}

TEST(FindingTextTest, SaysWhereAFrameIsInItsModuleWithoutDebugInformation) {
  EXPECT_THAT(TextOf(FindingWith({FrameOf("f()")})), HasSubstr("> f()  http_test+0x1a2b\n"));
}

TEST(FindingTextTest, CallsAFrameWithoutANameByItsModule) {
  EXPECT_THAT(TextOf(FindingWith({NamelessFrame("/opt/libplugin.so", 0x10)})),
              HasSubstr("  > libplugin.so+0x10\n"));
}

TEST(FindingTextTest, SaysThatAFrameIsUnknown) {
  EXPECT_THAT(TextOf(FindingWith({Frame{}})), HasSubstr("  > unknown function\n"));
}

TEST(FindingTextTest, LeavesOutALineThatIsNotKnown) {
  EXPECT_THAT(TextOf(FindingWith({FrameOf("f()", "/home/me/project/f.cc", 0)})),
              HasSubstr("> f()  f.cc\n"));
}

TEST(FindingTextTest, SaysThatNoStackWasRecorded) {
  Finding finding = FindingWith({});
  finding.user_frame.reset();

  EXPECT_THAT(TextOf(finding), HasSubstr("    no call stack was recorded\n"));
}

TEST(FindingTextTest, CountsTheFramesOfAVeryDeepStack) {
  EXPECT_THAT(TextOf(FindingWith(std::vector<Frame>(100, FrameOf("Recurse(int)")))),
              HasSubstr("    ... 80 more frames\n"));
}

TEST(FindingTextTest, SaysWhyAStackIsCut) {
  const auto text_of_end = [](UnwindEnd end) {
    Finding finding = FindingWith({FrameOf("f()")});
    finding.stack_end = end;
    return TextOf(finding);
  };
  EXPECT_THAT(text_of_end(UnwindEnd::kOutermost), Not(HasSubstr("cut")));
  EXPECT_THAT(text_of_end(UnwindEnd::kDepthLimit),
              HasSubstr("cut here: depth limit (--stack-depth)\n"));
  EXPECT_THAT(text_of_end(UnwindEnd::kNoUnwindInfo),
              HasSubstr("cut here: the caller has no unwind information\n"));
  EXPECT_THAT(text_of_end(UnwindEnd::kBadUnwindInfo),
              HasSubstr("cut here: unwind information that leakgate cannot read\n"));
  EXPECT_THAT(text_of_end(UnwindEnd::kUnreadableStack),
              HasSubstr("cut here: stack memory that could not be read\n"));
  EXPECT_THAT(text_of_end(UnwindEnd::kNotAStack),
              HasSubstr("cut here: the stack pointer leads nowhere\n"));
  EXPECT_THAT(text_of_end(UnwindEnd::kTableFull), HasSubstr("cut here: the stack table is full\n"));
}

TEST(FindingTextTest, EscapesControlCharactersInNamesAndPaths) {
  Finding finding = FindingWith(
      {FrameOf("f\x1b()"), FrameOf("g\x1b()", "/a\x1b.cc", 1), NamelessFrame("/b\x1b.so", 1)});
  finding.user_frame = 1;

  EXPECT_THAT(TextOf(finding), Not(HasSubstr("\x1b")));
  EXPECT_THAT(TextOf(finding), HasSubstr("through f\\x1b"));
  EXPECT_THAT(TextOf(finding), HasSubstr(" /a\\x1b.cc:1"));
  EXPECT_THAT(TextOf(finding), HasSubstr("b\\x1b.so+0x1"));
}

TEST(FindingTextTest, DimsWhatIsNotTheUsersAndLightsTheirOwnFrame) {
  const std::string text = FindingText(PoolFinding(), {Colour::kOn, sample::kProject});

  EXPECT_THAT(text, HasSubstr("> \x1b[1mnet::Pool::Grow"));
  EXPECT_THAT(text, HasSubstr("\x1b[2mthrough std::vector"));
  EXPECT_THAT(text, HasSubstr("\x1b[2m... 5 frames"));
}

TEST(RelativePathTest, IsRelativeBelowTheBaseDirectory) {
  EXPECT_EQ(RelativePath("/home/me/project/src/a.cc", "/home/me/project"), "src/a.cc");
  EXPECT_EQ(RelativePath("/home/me/project/src/a.cc", "/home/me/project/"), "src/a.cc");
}

TEST(RelativePathTest, ResolvesDotsThatBuildSystemsWrite) {
  EXPECT_EQ(RelativePath("/home/me/project/build/../src/a.cc", "/home/me/project"), "src/a.cc");
}

TEST(RelativePathTest, IsWholeOutsideOfTheBaseDirectory) {
  EXPECT_EQ(RelativePath("/usr/include/vector", "/home/me/project"), "/usr/include/vector");
  EXPECT_EQ(RelativePath("/home/me/project2/a.cc", "/home/me/project"), "/home/me/project2/a.cc");
}

TEST(RelativePathTest, IsWholeWithoutABaseDirectoryOrBelowTheRoot) {
  EXPECT_EQ(RelativePath("/src/a.cc", ""), "/src/a.cc");
  EXPECT_EQ(RelativePath("/src/a.cc", "/"), "/src/a.cc");
}

TEST(RelativePathTest, LeavesARelativePathAlone) {
  EXPECT_EQ(RelativePath("src/a.cc", "/home/me/project"), "src/a.cc");
}

}  // namespace
}  // namespace leakgate
