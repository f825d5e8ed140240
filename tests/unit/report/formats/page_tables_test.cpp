#include "runner/report/formats/page_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/report/formats/page.h"

namespace leakgate {
namespace {

using page::FindingOf;
using page::FrameNamed;
using page::Json;
using testing::SizeIs;

TEST(PageTablesTest, TellsAStringOnceAndNothingByZero) {
  PageTables tables;

  EXPECT_EQ(tables.String(""), 0);
  EXPECT_EQ(tables.String("a"), 1);
  EXPECT_EQ(tables.String("b"), 2);
  EXPECT_EQ(tables.String("a"), 1);
  EXPECT_EQ(tables.ToJson()["strings"], Json({"", "a", "b"}));
}

TEST(PageTablesTest, SharesTheOuterFramesOfStacks) {
  PageTables tables;
  const int one = tables.Stack({FrameNamed("f()"), FrameNamed("main")});
  const int other = tables.Stack({FrameNamed("g()"), FrameNamed("main")});

  EXPECT_NE(one, other);
  EXPECT_EQ(tables.Stack({FrameNamed("f()"), FrameNamed("main")}), one);
  // The root, main below it, and the two below main.
  EXPECT_EQ(tables.ToJson()["stacks"], Json({0, 0, 0, 0, 1, 1, 1, 2}));
  EXPECT_THAT(tables.ToJson()["frames"], SizeIs(3 * 6));
}

TEST(PageTablesTest, TellsNoStackByTheRoot) {
  PageTables tables;

  EXPECT_EQ(tables.Stack({}), 0);
}

TEST(PageTablesTest, MarksTheUsersOwnFramesAndInlinedOnes) {
  PageTables tables;
  Frame inlined = FrameNamed("net::Pool::Grow()");
  inlined.inlined = true;
  Frame googletests = FrameNamed("testing::Test::Run()");
  googletests.file = "/usr/src/googletest/googletest/src/gtest.cc";
  tables.Stack({inlined, googletests});

  const Json frames = tables.ToJson()["frames"];
  EXPECT_EQ(frames[5], 0);
  EXPECT_EQ(frames[11], PageTables::kInlined | PageTables::kUsers);
}

}  // namespace
}  // namespace leakgate
