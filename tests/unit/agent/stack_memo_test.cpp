#include "plugin/agent/unwind/stack_memo.h"

#include <gmock/gmock.h>

#include <memory>

#include "tests/unit/agent/walk.h"

namespace leakgate::test {
namespace {

using ::testing::ElementsAre;

// What the recorder does, step by step: asks the memo, else walks and remembers.
struct Memoised {
  agent::StackMemo memo{};
  ThreadWalker walker;
  std::uint32_t found = 0;   // by the memo; 0: it had to walk
  std::uint32_t walked = 0;  // by a walk of its own
};

__attribute__((noinline)) void AskHere(Memoised& memoised) {
  const agent::CallerFrame caller = LEAKGATE_CALLER_FRAME();
  TracedRegion();
  memoised.memo.Enter(agent::g_modules.Epoch());
  memoised.found = memoised.memo.Find(caller).value_or(0);
  const std::uint32_t kept =
      memoised.walker.walker.Walk(agent::g_modules, caller, memoised.walker.trail);
  memoised.walked = agent::g_stacks.Intern(kept, memoised.walker.trail).id;
  if (memoised.found == 0) {
    memoised.memo.Remember(caller, memoised.walker.trail, memoised.walked);
  }
}

// Alike but for their names: what they call finds the same rsp in both.
__attribute__((noinline)) int ByOneWay(Memoised& memoised) {
  AskHere(memoised);
  return 1;
}
__attribute__((noinline)) int ByOtherWay(Memoised& memoised) {
  AskHere(memoised);
  return 2;
}

using Way = int (*)(Memoised&);

__attribute__((noinline)) int Through(Way way, int depth, Memoised& memoised) {
  return depth == 0 ? way(memoised) : Through(way, depth - 1, memoised) + 1;
}

TEST(StackMemoTest, FindsAStackThatItHasSeen) {
  const auto memoised = std::make_unique<Memoised>();
  for (int i = 0; i < 3; ++i) {
    ByOneWay(*memoised);
    EXPECT_EQ(memoised->found, i == 0 ? 0U : memoised->walked);
  }
}

TEST(StackMemoTest, NeverTakesOneStackForAnother) {
  const auto memoised = std::make_unique<Memoised>();
  for (int i = 0; i < 4000; ++i) {
    const int depth = (i * 7919) % 61;
    Through(i % 2 == 0 ? ByOneWay : ByOtherWay, depth, *memoised);
    if (memoised->found != 0) {
      ASSERT_EQ(memoised->found, memoised->walked) << i;
    }
  }
}

// The frames in the middle differ, and neither pc nor rsp at the end tells.
__attribute__((noinline)) int MiddleOne(Memoised& memoised) { return ByOneWay(memoised) + 1; }
__attribute__((noinline)) int MiddleOther(Memoised& memoised) { return ByOneWay(memoised) + 2; }

TEST(StackMemoTest, TellsCallersApartThatLeaveTheSameStackPointer) {
  const auto memoised = std::make_unique<Memoised>();
  std::vector<std::uint32_t> found;
  std::vector<std::uint32_t> walked;
  for (const Way way : {MiddleOne, MiddleOther, MiddleOne}) {
    Through(way, 3, *memoised);
    found.push_back(memoised->found);
    walked.push_back(memoised->walked);
  }
  EXPECT_NE(walked[0], walked[1]);
  EXPECT_THAT(found, ElementsAre(0U, 0U, walked[0]));
}

TEST(StackMemoTest, ForgetsWhenAModuleMayHaveGone) {
  const auto memoised = std::make_unique<Memoised>();
  for (int i = 0; i < 2; ++i) {
    if (i == 1) agent::g_modules.ModulesMayHaveGone();
    ByOneWay(*memoised);
    EXPECT_EQ(memoised->found, 0U);
  }
}

TEST(StackMemoTest, SurvivesMoreStacksThanItHasRoomFor) {
  const auto memoised = std::make_unique<Memoised>();
  for (int round = 0; round < 3; ++round) {
    for (int depth = 0; depth < 200; ++depth) {
      Through(ByOneWay, depth, *memoised);
      if (memoised->found != 0) {
        ASSERT_EQ(memoised->found, memoised->walked) << depth;
      }
    }
  }
}

}  // namespace
}  // namespace leakgate::test
