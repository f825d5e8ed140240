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

// Stands for the frame that calls main. It can be entered twice, which a real one cannot: so it
// shows what is compared outward of it.
struct First {
  Memoised memoised;
  std::uint64_t noted_pc_too_far = 0;
  std::uint64_t noted_sp_too_far = 0;
  std::uint32_t most_outward = kMaxStackDepth;
};

__attribute__((noinline)) int NoteItsCaller(First& first, Way way) {
  const agent::CallerFrame caller = LEAKGATE_CALLER_FRAME();
  first.memoised.memo.BeginAt({.pc = caller.pc + first.noted_pc_too_far,
                               .sp = caller.sp + first.noted_sp_too_far,
                               .most_outward = first.most_outward});
  return way(first.memoised) + 1;
}
__attribute__((noinline)) int FirstFrameOf(First& first, Way way) {
  return NoteItsCaller(first, way) + 1;
}
__attribute__((noinline)) int CallTheFirst(First& first, Way way) {
  return FirstFrameOf(first, way) + 1;
}
__attribute__((noinline)) int CallTheFirstOtherwise(First& first, Way way) {
  return FirstFrameOf(first, way) + 2;
}

// Whether the memo takes the two for one stack, which differ outward of the first frame only.
bool IsProvedUpToTheFirstFrame(First& first) {
  CallTheFirst(first, ByOneWay);
  CallTheFirstOtherwise(first, ByOneWay);
  return first.memoised.found != 0;
}

TEST(StackMemoTest, ProvesNothingOutwardOfTheFirstFrame) {
  const auto first = std::make_unique<First>();
  EXPECT_TRUE(IsProvedUpToTheFirstFrame(*first));
}

TEST(StackMemoTest, ProvesTheReturnIntoTheFirstFrame) {
  const auto first = std::make_unique<First>();
  for (const Way way : {ByOneWay, ByOtherWay, ByOneWay, ByOtherWay}) {
    CallTheFirst(*first, way);
    if (first->memoised.found != 0) {
      EXPECT_EQ(first->memoised.found, first->memoised.walked);
    }
  }
}

TEST(StackMemoTest, ProvesAllWhereTheFirstFrameIsNotTheOneThatWasNoted) {
  const auto by_pc = std::make_unique<First>();
  by_pc->noted_pc_too_far = 1;
  EXPECT_FALSE(IsProvedUpToTheFirstFrame(*by_pc));
  const auto by_sp = std::make_unique<First>();
  by_sp->noted_sp_too_far = 16;
  EXPECT_FALSE(IsProvedUpToTheFirstFrame(*by_sp));
}

// Somebody's function between the C library's and the thread's may be called again.
TEST(StackMemoTest, ProvesAllWhereTooMuchIsOutwardOfTheFirstFrame) {
  const auto first = std::make_unique<First>();
  first->most_outward = 1;
  EXPECT_FALSE(IsProvedUpToTheFirstFrame(*first));
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
