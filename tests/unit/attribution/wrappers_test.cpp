#include "runner/attribution/wrappers.h"

#include <gtest/gtest.h>

#include <set>

#include "runner/attribution/code_owner.h"
#include "tests/unit/attribution/frames.h"

namespace leakgate {
namespace {

TEST(WrapperPatternsTest, KnowWrappersOfLibraries) {
  WrapperPatterns patterns;
  EXPECT_EQ(patterns.Find(In("xmalloc")), Wrapper::kKnown);
  EXPECT_EQ(patterns.Find(In("sqlite3_malloc64")), Wrapper::kKnown);
  EXPECT_EQ(patterns.Find(In("void* Eigen::internal::conditional_aligned_malloc<true>(unsigned "
                             "long)")),
            Wrapper::kKnown);
}

TEST(WrapperPatternsTest, KnowNoneOfLikeNames) {
  WrapperPatterns patterns;
  for (const char* const function : {"net::xmalloc(int)", "xmalloc_test", "TestBody", ""}) {
    EXPECT_EQ(patterns.Find(In(function)), Wrapper::kNo) << function;
  }
}

TEST(WrapperPatternsTest, TakeDeclaredOnesByFunctionFileAndModule) {
  WrapperPatterns patterns({"*_Malloc", "base/alloc.cc", "module:libpool.so*"});
  EXPECT_EQ(patterns.Find(In("Frame_Malloc")), Wrapper::kDeclared);
  EXPECT_EQ(patterns.Find(At("/src/base/alloc.cc", "Get()")), Wrapper::kDeclared);
  Frame frame = In("Get()");
  frame.module = "/opt/libpool.so.1";
  EXPECT_EQ(patterns.Find(frame), Wrapper::kDeclared);
  EXPECT_EQ(patterns.Find(In("Frame_MallocTest")), Wrapper::kNo);
}

TEST(WrapperPatternsTest, AreListedOnce) {
  std::set<std::string_view> patterns;
  for (const KnownWrappers& wrappers : ListKnownWrappers()) {
    EXPECT_FALSE(wrappers.library.empty());
    for (const std::string_view pattern : wrappers.patterns) {
      EXPECT_TRUE(patterns.insert(pattern).second) << pattern;
    }
  }
}

Frame WrapperIn(const std::string& function) {
  Frame frame = In(function);
  frame.wrapper = Wrapper::kKnown;
  return frame;
}

TEST(WrappersTest, AreNotTheUsersFrameButWhereThereIsNoOther) {
  EXPECT_EQ(FindUserFrame({In("operator new(unsigned long)"), WrapperIn("xmalloc"), In("Own()")}),
            2U);
  EXPECT_EQ(FindUserFrame({WrapperIn("xmalloc"), WrapperIn("xstrdup")}), 0U);
}

TEST(WrappersTest, ChargeNoComponent) {
  BudgetFile base;
  base.component = "base";
  base.code.functions = {"xmalloc"};
  EXPECT_EQ(OwnerOf({&base}, {WrapperIn("xmalloc"), In("Own()")}), nullptr);
  EXPECT_EQ(OwnerOf({&base}, {In("xmalloc"), In("Own()")}), &base);
}

}  // namespace
}  // namespace leakgate
