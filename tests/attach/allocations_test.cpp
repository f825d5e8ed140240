// What is allocated once a running process is attached to is known, and no more.
#include <gmock/gmock.h>

#include "tests/attach/attached_program.h"

namespace leakgate::test {
namespace {

using testing::IsEmpty;

class AttachTest : public testing::TestWithParam<Carries> {};

TEST_P(AttachTest, SeesWhatIsAllocatedFromThenOn) {
  AttachedProgram program(GetParam());
  ASSERT_EQ(program.Ask("malloc 1000 101"), "ok");
  ASSERT_EQ(program.Enable(), "");
  EXPECT_EQ(program.Ask("malloc 500 203"), "ok");
  EXPECT_EQ(program.Ask("new 300 305"), "ok");

  EXPECT_EQ(program.BlocksOf(203), 500U);
  EXPECT_EQ(program.BlocksOf(305), 300U);
  EXPECT_EQ(program.BlocksOf(101), 0U);
  EXPECT_EQ(program.region().State(), AgentState::kTracing);
}

TEST_P(AttachTest, SaysSinceWhen) {
  AttachedProgram program(GetParam());
  const auto now = [] {
    return static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  };
  const std::uint64_t before = now();
  ASSERT_EQ(program.Enable(), "");
  EXPECT_GE(program.region().AttachedAtNs(), before);
  EXPECT_LE(program.region().AttachedAtNs(), now());
}

TEST_P(AttachTest, FindsNothingWrongInFreesOfWhatWasThereBefore) {
  AttachedProgram program(GetParam());
  ASSERT_EQ(program.Ask("malloc 1000 101"), "ok");
  ASSERT_EQ(program.Ask("new 1000 101"), "ok");
  ASSERT_EQ(program.Enable(), "");
  EXPECT_EQ(program.Ask("free"), "ok");
  EXPECT_THAT(program.region().FreeErrors(), IsEmpty());

  EXPECT_EQ(program.Ask("malloc 1000 101"), "ok");
  EXPECT_EQ(program.Ask("free"), "ok");
  EXPECT_EQ(program.BlocksOf(101), 0U);
  EXPECT_THAT(program.region().FreeErrors(), IsEmpty());
}

TEST_P(AttachTest, KnowsABlockOnceItIsReallocated) {
  AttachedProgram program(GetParam());
  ASSERT_EQ(program.Ask("malloc 10 101"), "ok");
  ASSERT_EQ(program.Enable(), "");
  EXPECT_EQ(program.Ask("realloc 707"), "ok");
  EXPECT_EQ(program.BlocksOf(707), 10U);
}

TEST_P(AttachTest, LeavesTheProgramAsItWasOnceDisabled) {
  AttachedProgram program(GetParam());
  ASSERT_EQ(program.Enable(), "");
  ASSERT_EQ(program.Ask("malloc 10 101"), "ok");
  ASSERT_EQ(program.Disable(), "");
  EXPECT_EQ(program.region().End(), ProgramEnd::kDetached);
  EXPECT_EQ(program.Ask("malloc 10 203"), "ok");
  EXPECT_EQ(program.Ask("free"), "ok");
  EXPECT_EQ(program.BlocksOf(101), 10U);  // as it was when it was disabled
  EXPECT_EQ(program.BlocksOf(203), 0U);
  program.Send("exit");
  EXPECT_EQ(program.WaitForEnd(), 0);
}

TEST_P(AttachTest, BeginsAnewWhenEnabledAgain) {
  AttachedProgram program(GetParam());
  ASSERT_EQ(program.Enable(), "");
  ASSERT_EQ(program.Ask("malloc 10 101"), "ok");
  ASSERT_EQ(program.Disable(), "");
  ASSERT_EQ(program.Enable(), "");
  EXPECT_EQ(program.Ask("malloc 20 203"), "ok");
  EXPECT_EQ(program.BlocksOf(203), 20U);
  EXPECT_EQ(program.BlocksOf(101), 0U);
  EXPECT_EQ(program.Ask("free"), "ok");
  EXPECT_EQ(program.BlocksOf(203), 0U);
  EXPECT_THAT(program.region().FreeErrors(), IsEmpty());
  program.Send("exit");
  EXPECT_EQ(program.WaitForEnd(), 0);
  EXPECT_EQ(program.region().End(), ProgramEnd::kExit);
}

TEST_P(AttachTest, CountsTheSameAsAProgramOfManyThreads) {
  AttachedProgram program(GetParam());
  ASSERT_EQ(program.Ask("threads 4"), "ok");
  ASSERT_EQ(program.Enable(), "");
  EXPECT_EQ(program.Ask("malloc 500 2203"), "ok");
  EXPECT_EQ(program.Ask("join"), "right some wrong 0");
  EXPECT_EQ(program.BlocksOf(2203), 500U);
  EXPECT_EQ(program.Ask("free"), "ok");

  // All that the threads have allocated since is gone, and so is what they had before.
  const Totals totals = program.region().CurrentTotals();
  EXPECT_GT(totals.allocated_blocks, 500U);
  EXPECT_EQ(program.BlocksOf(2203), 0U);
  EXPECT_THAT(program.region().FreeErrors(), IsEmpty());
  for (std::uint32_t i = 0; i < kDropReasonCount; ++i) {
    EXPECT_EQ(program.region().Drops(static_cast<DropReason>(i)), 0U) << i;
  }
}

TEST_P(AttachTest, LeavesForkChildrenAlone) {
  AttachedProgram program(GetParam());
  ASSERT_EQ(program.Enable(), "");
  const std::uint64_t before = program.region().CurrentTotals().allocated_blocks;
  EXPECT_EQ(program.Ask("fork"), "ok");
  EXPECT_LT(program.region().CurrentTotals().allocated_blocks, before + 1000);
}

// It has its parent's memory, but for the region, and the agent that its parent had.
TEST_P(AttachTest, EnablesAForkChildOfATracedProcess) {
  AttachedProgram program(GetParam());
  ASSERT_EQ(program.Enable(), "");
  ASSERT_EQ(program.Ask("malloc 30 101"), "ok");
  program.Follow(std::stoi(program.Ask("become_child")));
  ASSERT_EQ(program.Enable(), "");
  EXPECT_EQ(program.Ask("malloc 20 203"), "ok");
  EXPECT_EQ(program.BlocksOf(203), 20U);
  EXPECT_EQ(program.Ask("free"), "ok");
  EXPECT_EQ(program.BlocksOf(203), 0U);
  EXPECT_THAT(program.region().FreeErrors(), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(, AttachTest,
                         testing::Values(Carries::kNoAgent, Carries::kAgentThatStaysOff),
                         [](const auto& given) {
                           return given.param == Carries::kNoAgent ? "WithoutAgent" : "WithAgent";
                         });

}  // namespace
}  // namespace leakgate::test
