// The whole way from a window's blocks to what became of them: a suite is launched with the agent,
// and each test's blocks are looked at while the suite waits for the verdict.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "runner/attribution/call_sites.h"
#include "runner/attribution/code_owner.h"
#include "runner/attribution/framework_rules.h"
#include "runner/reach/find_reach.h"
#include "runner/symbols/symbolizer.h"
#include "tests/windows/agent/traced_process.h"

namespace leakgate {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

// What became of the blocks of a test: "lost 100 B by Lose" or "retained 100 B by (the test) held
// by g_global", say.
using Fates = std::vector<std::string>;

std::string FateOf(const BlockReach& reach) {
  if (IsLost(reach.reach)) return "lost";
  return reach.reach == Reach::kRetained ? "retained" : "unknown";
}

class Judge {
 public:
  void Look(const RegionReader& region, std::uint32_t window, int asking_tid) {
    const std::vector<LiveBlock> blocks = *region.LiveBlocks(window);
    const Expected<std::vector<BlockReach>> reaches =
        FindReach({.pid = region.Pid(),
                   .region = region,
                   .candidates = blocks,
                   .variables = variables_,
                   .names_holder = [](const LiveBlock&) { return true; },
                   .asking_tid = asking_tid});
    ASSERT_TRUE(reaches.has_value()) << reaches.error().message;
    const std::string name = region.Window(window).name;
    if (name == "Framework.FailedAssertion") CountLostOfAll(region);
    Fates& fates = fates_[name];
    std::vector<AllocationKind>& kinds = kinds_[name];
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const std::vector<Frame> stack = StackOf(region, blocks[i].stack);
      CallSites sites([&](std::uint32_t) { return ResolvedStack{stack, UnwindEnd::kOutermost}; });
      kinds.push_back(sites.Of(1).kind.value_or(blocks[i].kind));
      const std::optional<std::string> rule = MatchFrameworkRule(stack, UnwindEnd::kOutermost);
      if (rule) {
        fates.push_back(*rule);
        continue;
      }
      const std::optional<std::size_t> user = FindUserFrame(stack);
      const BlockReach& reach = (*reaches)[i];
      fates.push_back(fmt::format(
          "{} {} B by {}{}", FateOf(reach), blocks[i].size_bytes,
          user ? stack[*user].function : "nobody",
          reach.holder
              ? " held by " + HolderText(*reach.holder, [](std::uint32_t) { return std::string(); })
              : ""));
    }
  }

  [[nodiscard]] int lost_of_all() const { return lost_of_all_; }
  [[nodiscard]] const std::vector<AllocationKind>& KindsOf(const std::string& test) {
    return kinds_[test];
  }
  [[nodiscard]] const Fates& Of(const std::string& test) { return fates_[test]; }

 private:
  void CountLostOfAll(const RegionReader& region) {
    const Expected<HeapReach> all = FindReachOfAll(
        {.pid = region.Pid(), .region = region, .candidates = {}, .variables = variables_});
    ASSERT_TRUE(all.has_value()) << all.error().message;
    lost_of_all_ =
        static_cast<int>(std::count_if(all->reaches.begin(), all->reaches.end(), IsLost));
  }
  std::vector<Frame> StackOf(const RegionReader& region, std::uint32_t id) {
    std::vector<Frame> stack;
    for (const RawStack::Frame& frame : region.Stack(id).frames) {
      for (Frame& named : symbolizer_.Symbolize(region.ModuleOf(frame.module), frame.pc)) {
        stack.push_back(std::move(named));
      }
    }
    return stack;
  }

  Symbolizer symbolizer_{IsRuntimeModule};
  Variables variables_{IsRuntimeModule};
  std::map<std::string, Fates> fates_;
  std::map<std::string, std::vector<AllocationKind>> kinds_;
  int lost_of_all_ = -1;  // not asked yet
};

// The suite is run once for all tests.
Judge& Judged() {
  static Judge judge;
  static const testing::TracedProcess process(
      {.fixture = "held_suite.exe",
       .arguments = {},
       .looks_at = [](const RegionReader& region, std::uint32_t window, int asking_tid) {
         judge.Look(region, window, asking_tid);
       }});
  return judge;
}

TEST(LookTest, RetainsWhatIsHeldInAnyWay) {
  for (const char* const test :
       {"Held.Global", "Held.ThreadLocal", "Held.TlsSlot", "Held.FlsSlot", "Held.Map",
        "Held.Calloc", "Held.NewArray", "Held.VirtualAlloc", "Held.OtherHeap", "Held.OtherStack"}) {
    EXPECT_THAT(Judged().Of(test), AllOf(Not(IsEmpty()), Each(Not(StartsWith("lost"))))) << test;
  }
}

TEST(LookTest, FindsWhatIsLostAndWhoLostIt) {
  EXPECT_THAT(Judged().Of("Lost.One"),
              ::testing::ElementsAre(AllOf(StartsWith("lost 50000 B by "), HasSubstr("::Lose("))));
  EXPECT_THAT(Judged().Of("Lost.Chain"), AllOf(::testing::SizeIs(2), Each(StartsWith("lost "))));
  EXPECT_THAT(Judged().Of("Lost.Cycle"), AllOf(::testing::SizeIs(2), Each(StartsWith("lost "))));
}

TEST(LookTest, TellsHowABlockWasAllocated) {
  EXPECT_THAT(Judged().KindsOf("Held.Global"), ::testing::ElementsAre(AllocationKind::kMalloc));
  EXPECT_THAT(Judged().KindsOf("Held.Calloc"), ::testing::ElementsAre(AllocationKind::kCalloc));
  // mingw-w64's new[] jumps to new, and leaves no frame.
  EXPECT_THAT(
      Judged().KindsOf("Held.NewArray"),
      ::testing::ElementsAre(::testing::AnyOf(AllocationKind::kNew, AllocationKind::kNewArray)));
  EXPECT_THAT(Judged().KindsOf("Held.Map"), Each(AllocationKind::kNew));
}

TEST(LookTest, FindsLostWhatOnlyFreedMemoryPointsTo) {
  for (const char* const test : {"Lost.InFreedMemory", "Lost.InFreedMemoryOfTheProcessHeap"}) {
    EXPECT_THAT(Judged().Of(test), ::testing::ElementsAre(StartsWith("lost 50000 B by "))) << test;
  }
}

TEST(LookTest, WaitsForNoHeapThatAThreadHasLocked) {
  EXPECT_THAT(Judged().Of("Locked.Heap"), ::testing::Contains(StartsWith("retained 50000 B by ")));
}

TEST(LookTest, WaitsForNoFunctionOfAStoppedThread) {
  EXPECT_THAT(Judged().Of("Locked.HeapThatAThreadValidates"),
              ::testing::Contains(StartsWith("lost 50000 B by ")));
  EXPECT_THAT(Judged().Of("Locked.HeapThatAThreadHasValidated"), IsEmpty());
}

TEST(LookTest, WaitsForNoLockOfAThreadThatWasEnded) {
  for (const char* const test : {"Killed.InAFunctionOfAHeap", "Killed.WithALock"}) {
    EXPECT_THAT(Judged().Of(test), ::testing::Contains(StartsWith("retained 50000 B by "))) << test;
  }
  EXPECT_THAT(Judged().Of("Killed.BeforeOthersAreLost"),
              ::testing::ElementsAre(StartsWith("lost 50000 B by ")));
}

TEST(LookTest, FreesADestroyedHeapThatAnEndedThreadHadLocked) {
  EXPECT_THAT(Judged().Of("Killed.BeforeItsHeapIsDestroyed"), Each(Not(HasSubstr(" 100 B by "))));
}

TEST(LookTest, WalksNoHeapThatAStoppedThreadMayBeAboutToChange) {
  EXPECT_THAT(Judged().Of("Locked.HeapWithoutLock"),
              ::testing::Contains(StartsWith("retained 50000 B by ")));
}

TEST(LookTest, RetainsAllWhereAWindowMayHoldIt) {
  for (const std::string& fate : Judged().Of("HeldByWindow.UserData"))
    EXPECT_THAT(fate, Not(StartsWith("lost")));
}

TEST(LookTest, TellsOfAllBlocksOfTheProcessAtOnce) {
  EXPECT_GE(Judged().lost_of_all(), 5) << "after the suite of lost blocks";
}

TEST(LookTest, NamesTheGlobalThatHoldsABlock) {
  EXPECT_THAT(Judged().Of("Held.Global"), ::testing::ElementsAre(HasSubstr("g_global (")));
}

TEST(LookTest, LeavesToGoogleTestAndTheRuntimeWhatTheyKeep) {
  EXPECT_THAT(Judged().Of("Framework.FailedAssertion"),
              AllOf(Not(IsEmpty()), Each(StartsWith("gtest."))));
  EXPECT_THAT(Judged().Of("Held.OtherStack"), ::testing::Contains("libc.threads"));
}

}  // namespace
}  // namespace leakgate
