// Allowances in the program's code: which blocks they hold for, and that giving one
// again costs nothing.
#include "plugin/agent/windows/allowances.h"

#include <gmock/gmock.h>

#include "plugin/agent/host/on_switch.h"
#include "plugin/agent/windows/windows.h"
#include "tests/unit/agent/traced_region.h"

namespace leakgate::test {
namespace {

class AllowancesTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    TracedRegion();
    static const bool is_started = agent::StartThreads() && agent::SwitchOn();
    ASSERT_TRUE(is_started);
  }
  void SetUp() override {
    window_ = agent::OpenWindow({.kind = WindowKind::kTest, .name = "Allowed.Test", .file = {}});
  }
  void TearDown() override { agent::SetCurrentWindow(Reader().Window(window_).parent); }

  static const RegionReader& Reader() { return TracedRegion().reader(); }

  static agent::GivenAllowance Because(std::string_view reason) {
    return {.reason = reason, .file = "pool.cpp", .line = 7, .bytes = 64, .blocks = -1};
  }
  static std::uint32_t Begin(std::string_view reason) {
    if (!agent::CanRecord()) return 0;
    const agent::RecordingGuard guard;
    return agent::BeginAllowance(guard, Because(reason));
  }
  static void Restore(std::uint32_t before) {
    if (!agent::CanRecord()) return;
    const agent::RecordingGuard guard;
    agent::RestoreAllowance(guard, before);
  }
  static void Expect(std::string_view reason) {
    if (!agent::CanRecord()) return;
    const agent::RecordingGuard guard;
    agent::ExpectOutstanding(guard, Because(reason));
  }

  // Calls a function of the agent's that needs a recording only.
  static void Call(void (*function)(agent::Recording)) {
    if (!agent::CanRecord()) return;
    const agent::RecordingGuard guard;
    function(guard);
  }
  static void Count(std::uint64_t begin, std::uint64_t bytes, int change) {
    if (!agent::CanRecord()) return;
    const agent::RecordingGuard guard;
    agent::CountRootRegion(guard, {begin, bytes}, change);
  }
  // Whether the block allocated now is one that leak checkers are to ignore.
  static bool IsIgnored(std::uint32_t window) {
    return ReasonOfABlock(window) == "the code has leak checkers ignore it";
  }

  // The reason that the block allocated now is allowed for.
  __attribute__((noinline)) static std::string ReasonOfABlock(std::uint32_t window) {
    void* const block = reinterpret_cast<void*>(0x6000'0000);
    agent::RecordAllocation(block, 24, AllocationKind::kMalloc, LEAKGATE_CALLER_FRAME());
    const std::vector<LiveBlock> live = Reader().LiveBlocks(window).value();
    agent::RecordFree(block, {FreeKind::kFree, LEAKGATE_CALLER_FRAME()});
    return live.size() == 1 ? Reader().Allowance(live[0].allowance).reason : "not one block";
  }

  std::uint32_t window_ = 0;
};

TEST_F(AllowancesTest, HoldForTheBlocksAllocatedMeanwhileTheInnermostFirst) {
  EXPECT_EQ(ReasonOfABlock(window_), "");
  const std::uint32_t none = Begin("outer");
  EXPECT_EQ(ReasonOfABlock(window_), "outer");
  const std::uint32_t outer = Begin("inner");
  EXPECT_EQ(ReasonOfABlock(window_), "inner");
  Restore(outer);
  EXPECT_EQ(ReasonOfABlock(window_), "outer");
  Restore(none);
  EXPECT_EQ(ReasonOfABlock(window_), "");
}

TEST_F(AllowancesTest, AreToldWithAllThatWasGiven) {
  const std::uint32_t first = Reader().AllowanceCount();
  Restore(Begin("the pool"));
  const AllowanceCopy allowance = Reader().Allowance(first);
  EXPECT_EQ(allowance.id, first);
  EXPECT_EQ(allowance.kind, AllowanceKind::kScoped);
  EXPECT_EQ(allowance.window, window_);
  EXPECT_EQ(allowance.reason, "the pool");
  EXPECT_EQ(allowance.file, "pool.cpp");
  EXPECT_EQ(allowance.line, 7);
  EXPECT_EQ(allowance.bytes, 64);
  EXPECT_EQ(allowance.blocks, -1);
}

TEST_F(AllowancesTest, NeedOneRecordAndFewContextsHoweverOftenGiven) {
  Restore(Begin("in a loop"));
  EXPECT_EQ(ReasonOfABlock(window_), "");
  const std::uint32_t records = Reader().AllowanceCount();
  const std::uint32_t contexts = agent::g_region.header().context_count;
  for (int i = 0; i < 100'000; ++i) {
    const std::uint32_t before = Begin("in a loop");
    if (i % 1000 == 0) ReasonOfABlock(window_);
    Restore(before);
  }
  EXPECT_EQ(Reader().AllowanceCount(), records);
  EXPECT_EQ(agent::g_region.header().context_count, contexts + 1);
}

TEST_F(AllowancesTest, OfAnotherWindowAreOthers) {
  Expect("left by each test");
  const std::uint32_t count = Reader().AllowanceCount();
  const std::uint32_t inner =
      agent::OpenWindow({.kind = WindowKind::kTest, .name = "Other.Test", .file = {}});
  Expect("left by each test");
  Expect("left by each test");
  agent::SetCurrentWindow(window_);
  EXPECT_EQ(Reader().AllowanceCount(), count + 1);
  EXPECT_EQ(Reader().Allowance(count).window, inner);
  EXPECT_EQ(Reader().Allowance(count).kind, AllowanceKind::kExpected);
}

TEST_F(AllowancesTest, WhatIsAllocatedWhileIgnoringIsIgnoredAlsoAfterTheWindowsEnd) {
  Call(agent::EndIgnoring);  // of nothing
  EXPECT_EQ(ReasonOfABlock(window_), "");
  Call(agent::BeginIgnoring);
  Call(agent::BeginIgnoring);
  EXPECT_TRUE(IsIgnored(window_));
  Call(agent::EndIgnoring);
  if (agent::CanRecord()) {
    const agent::RecordingGuard guard;
    agent::EndAllowancesOf(guard, window_);
  }
  EXPECT_TRUE(IsIgnored(window_));
  Call(agent::EndIgnoring);
  EXPECT_EQ(ReasonOfABlock(window_), "");
}

TEST_F(AllowancesTest, ScopesAndIgnoringEndInAnyOrder) {
  const std::uint32_t none = Begin("a scope around it");
  Call(agent::BeginIgnoring);
  EXPECT_TRUE(IsIgnored(window_));
  Restore(none);
  EXPECT_TRUE(IsIgnored(window_));
  const std::uint32_t ignoring = Begin("a scope in it");
  EXPECT_EQ(ReasonOfABlock(window_), "a scope in it");
  Call(agent::EndIgnoring);
  EXPECT_EQ(ReasonOfABlock(window_), "a scope in it");
  Restore(ignoring);
  EXPECT_EQ(ReasonOfABlock(window_), "");
}

TEST_F(AllowancesTest, RootRegionsAreCountedUntilAllRegistrationsHaveEnded) {
  const auto regions = [] {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> found;
    for (const KeptRange& region : Reader().RootRegions()) {
      found.emplace_back(region.begin, region.end);
    }
    return found;
  };
  Count(0x1000, 0x100, 1);
  Count(0x1000, 0x100, 1);
  Count(0x5000, 8, -1);  // of none
  Count(0x6000, 0, 1);
  Count(~0ULL - 8, 64, 1);  // beyond the last address
  EXPECT_THAT(regions(), testing::ElementsAre(testing::Pair(0x1000, 0x1100)));
  Count(0x1000, 0x100, -1);
  EXPECT_THAT(regions(), testing::SizeIs(1));
  Count(0x1000, 0x100, -1);
  EXPECT_THAT(regions(), testing::IsEmpty());
}

TEST_F(AllowancesTest, CountADropWhereTheTableIsFull) {
  std::atomic<std::uint32_t>& count = agent::g_region.header().allowance_count;
  const std::uint32_t before = count;
  const std::uint64_t drops = Reader().Drops(DropReason::kAllowanceTableFull);
  count = kMaxAllowances;
  Restore(Begin("one too many"));
  count = before;
  EXPECT_EQ(Reader().Drops(DropReason::kAllowanceTableFull), drops + 1);
}

}  // namespace
}  // namespace leakgate::test
