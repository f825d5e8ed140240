// Every kind of frame, walked by the agent's unwinder and by libgcc's: the same
// pcs, all the way out.
#include "plugin/agent/unwind/stack_walker.h"

#include <alloca.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <coroutine>
#include <functional>
#include <thread>

#include "plugin/agent/threads/thread_state.h"
#include "tests/unit/agent/walk.h"

extern "C" void WalkFromPreservedRegisterFrame(void (*function)(void*), void* argument);
extern "C" void WalkFromExpressionFrame(void (*function)(void*), void* argument);
extern "C" void WalkFromSignedFrame(void (*function)(void*), void* argument);
extern "C" void WalkFromNoInfoFrame(void (*function)(void*), void* argument);

namespace leakgate::test {
namespace {

using ::testing::ElementsAreArray;
using ::testing::Gt;
using ::testing::SizeIs;

void ExpectSame(const TwoWalks& walks) {
  EXPECT_THAT(walks.ours, SizeIs(Gt(3U)));
  EXPECT_THAT(walks.ours, ElementsAreArray(walks.libgccs));
  EXPECT_EQ(walks.end, UnwindEnd::kOutermost);
}

__attribute__((noinline)) int Recurse(int depth, TwoWalks& walks) {
  if (depth == 0) {
    WalkHere(walks);
    return 0;
  }
  const int below = Recurse(depth - 1, walks);
  asm volatile("" ::: "memory");  // no loop, however it is optimised
  return below + 1;
}

TEST(StackWalkerTest, WalksPlainFrames) {
  TwoWalks walks;
  Recurse(50, walks);
  ExpectSame(walks);
  EXPECT_TRUE(walks.is_provable);
}

TEST(StackWalkerTest, KeepsTheOuterFramesOfTheLastStack) {
  for (const int depth : {20, 10, 30, 5, 5}) {
    TwoWalks walks;
    Recurse(depth, walks);
    ExpectSame(walks);
  }
}

// Over the depth limits.
class DepthLimitTest : public ::testing::TestWithParam<std::uint32_t> {
 protected:
  void SetUp() override { SetLimit(GetParam()); }
  void TearDown() override { SetLimit(kDefaultStackDepth); }

  // The frames that both are to have found, and whether there were more.
  static void ExpectSameUpToTheLimit(TwoWalks& walks) {
    const bool is_cut = walks.libgccs.size() > GetParam();
    if (is_cut) walks.libgccs.resize(GetParam());
    EXPECT_THAT(walks.ours, ElementsAreArray(walks.libgccs));
    EXPECT_EQ(walks.end, is_cut ? UnwindEnd::kDepthLimit : UnwindEnd::kOutermost);
  }

 private:
  static void SetLimit(std::uint32_t frames) {
    WalkerOfThisThread().walker.Begin(agent::OwnStack::OfThisThread(), frames);
  }
};

TEST_P(DepthLimitTest, CutsADeeperStackAndSaysSo) {
  TwoWalks walks;
  Recurse(1500, walks);
  EXPECT_THAT(walks.ours, SizeIs(GetParam()));
  EXPECT_EQ(walks.end, UnwindEnd::kDepthLimit);
  ExpectSameUpToTheLimit(walks);
}

// The test's own frames are fewer than 40.
TEST_P(DepthLimitTest, WalksStacksAroundTheLimitRight) {
  const int limit = static_cast<int>(GetParam());
  for (int depth = std::max(limit - 40, 0); depth < limit + 5; ++depth) {
    TwoWalks walks;
    Recurse(depth, walks);
    ExpectSameUpToTheLimit(walks);
    if (HasFailure()) FAIL() << "at a depth of " << depth;
  }
}

// In great steps: the second keeps many outer frames of the first.
TEST_P(DepthLimitTest, CutsAStackWhoseOuterFramesWereKept) {
  for (const int depth : {1, 100, 600, 900, 1000, 1100, 500, 1100}) {
    TwoWalks walks;
    Recurse(depth, walks);
    ExpectSameUpToTheLimit(walks);
  }
}

INSTANTIATE_TEST_SUITE_P(, DepthLimitTest, ::testing::Values(1, 3, 256, kMaxStackDepth));

// Memory that has been written to, of whole pages.
std::size_t TouchedBytes(void* begin, std::size_t bytes) {
  const auto page_bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> pages((bytes + page_bytes - 1) / page_bytes);
  EXPECT_EQ(mincore(begin, bytes, pages.data()), 0);
  const auto is_there = [](unsigned char page) { return (page & 1) != 0; };
  return static_cast<std::size_t>(std::count_if(pages.begin(), pages.end(), is_there)) * page_bytes;
}

__attribute__((noinline)) void WalkBy(agent::ThreadState& thread) {
  thread.walker.Walk(agent::g_modules, LEAKGATE_CALLER_FRAME(), thread.trail);
}

__attribute__((noinline)) int WalkAtDepth(int depth, agent::ThreadState& thread) {
  if (depth == 0) {
    WalkBy(thread);
    return 0;
  }
  return WalkAtDepth(depth - 1, thread) + 1;
}

// A thread's state is made as the agent makes it: in fresh memory, and not cleared.
TEST(StackWalkerTest, TouchesTheMemoryOfItsDeepestStackOnly) {
  TracedRegion();
  constexpr std::size_t kBytes = sizeof(agent::ThreadState);
  const auto page_bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  auto* const thread = new (agent::MapPrivate(kBytes)) agent::ThreadState;
  thread->walker.Begin(agent::OwnStack::OfThisThread(), kMaxStackDepth);
  const std::size_t at_first = TouchedBytes(thread, kBytes);
  WalkAtDepth(10, *thread);
  const std::size_t shallow = TouchedBytes(thread, kBytes);
  WalkAtDepth(900, *thread);
  const std::size_t deep = TouchedBytes(thread, kBytes);
  munmap(thread, kBytes);

  // One page of each array that a walk fills, or two where they are not aligned,
  // and those in which the cache has its first rules.
  EXPECT_LE(at_first, 10 * page_bytes);
  EXPECT_LE(shallow, at_first + 4 * page_bytes + 3 * page_bytes);
  EXPECT_GE(deep, shallow + 900 * sizeof(agent::TrailFrame));
}

TEST(RuleCacheTest, KeepsItsRulesWhenItGrows) {
  auto* const cache = new (agent::MapPrivate(sizeof(agent::RuleCache))) agent::RuleCache;
  const auto fill = [&](std::uint64_t pc) {
    cache->SlotToFill(pc) = {.lookup_pc = pc, .module = 1, .rule = {}};
  };
  const auto has = [&](std::uint64_t pc) { return cache->Slot(pc).lookup_pc == pc; };
  constexpr std::uint64_t kFirst = 0x1000;
  std::vector<std::uint64_t> kept;
  for (std::uint64_t pc = kFirst; pc < kFirst + 50; ++pc) {
    if (!has(pc) && cache->Slot(pc).lookup_pc == 0) kept.push_back(pc);
    if (cache->Slot(pc).lookup_pc == 0) fill(pc);
  }
  ASSERT_GT(kept.size(), 20U);
  // The others are in places of their own when there are more places.
  for (std::uint64_t pc = 0x9000; pc < 0x9000 + 5000; ++pc) {
    const std::uint64_t in_its_place = cache->Slot(pc).lookup_pc;
    std::erase(kept, in_its_place);
    fill(pc);
    ASSERT_TRUE(has(pc));
    ASSERT_TRUE(std::all_of(kept.begin(), kept.end(), has)) << pc;
  }
  cache->Forget();
  for (std::uint64_t pc = kFirst; pc < 0x9000 + 5000; ++pc) ASSERT_FALSE(has(pc));
  munmap(cache, sizeof(agent::RuleCache));
}

__attribute__((noinline)) void Realigned(TwoWalks& walks, int bytes) {
  alignas(64) volatile char aligned[64] = {1};
  volatile char* const dynamic = static_cast<char*>(alloca(static_cast<std::size_t>(bytes)));
  dynamic[0] = 1;
  WalkHere(walks);
  aligned[0] = static_cast<char>(aligned[1] + dynamic[0]);
}

TEST(StackWalkerTest, WalksARealignedFrameWithAlloca) {
  TwoWalks walks;
  Realigned(walks, 300);
  ExpectSame(walks);
}

TEST(StackWalkerTest, WalksThroughTheCppRuntimeAndLibc) {
  TwoWalks walks;
  const std::function<void()> function = [&] { WalkHere(walks); };
  std::vector<int> values = {3, 1, 2};
  std::sort(values.begin(), values.end(), [&](int a, int b) {
    function();
    return a < b;
  });
  ExpectSame(walks);

  thread_local TwoWalks in_qsort;
  std::qsort(values.data(), values.size(), sizeof(int), [](const void*, const void*) {
    WalkHere(in_qsort);
    return 0;
  });
  ExpectSame(in_qsort);
}

TEST(StackWalkerTest, WalksANewThreadToItsStart) {
  TwoWalks walks;
  std::thread thread([&] { Recurse(5, walks); });
  thread.join();
  ExpectSame(walks);
}

TwoWalks* g_walks = nullptr;

void OnSignal(int) { WalkHere(*g_walks); }

class SignalTest : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    g_walks = &walks_;
    stack_t other{};
    other.ss_sp = other_stack_;
    other.ss_size = sizeof(other_stack_);
    sigaltstack(&other, nullptr);
    struct sigaction action {};
    action.sa_handler = OnSignal;
    action.sa_flags = GetParam();
    sigaction(SIGUSR1, &action, nullptr);
  }
  void TearDown() override {
    signal(SIGUSR1, SIG_DFL);
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, nullptr);
  }

  TwoWalks walks_;
  char other_stack_[128 * 1024];
};

TEST_P(SignalTest, WalksThroughASignalsFrame) {
  raise(SIGUSR1);
  ExpectSame(walks_);
}

INSTANTIATE_TEST_SUITE_P(OnEitherStack, SignalTest, ::testing::Values(0, SA_ONSTACK));

struct WalksWhenDestroyed {
  TwoWalks& walks;
  ~WalksWhenDestroyed() { WalkHere(walks); }
};

__attribute__((noinline)) void Throw(TwoWalks& walks) {
  const WalksWhenDestroyed walker{walks};
  throw 1;
}

TEST(StackWalkerTest, WalksWhileAnExceptionIsThrown) {
  TwoWalks walks;
  try {
    Throw(walks);
  } catch (int) {
  }
  ExpectSame(walks);
}

struct Coroutine {
  struct promise_type {
    Coroutine get_return_object() {
      return {std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
  std::coroutine_handle<promise_type> handle;
};

Coroutine WalkInCoroutine(TwoWalks& walks) {
  WalkHere(walks);
  co_return;
}

TEST(StackWalkerTest, WalksACoroutine) {
  TwoWalks walks;
  const Coroutine coroutine = WalkInCoroutine(walks);
  coroutine.handle.resume();
  coroutine.handle.destroy();
  ExpectSame(walks);
}

ucontext_t g_main_context;
ucontext_t g_other_context;

void OnOtherStack() {
  Recurse(3, *g_walks);
  swapcontext(&g_other_context, &g_main_context);
}

TEST(StackWalkerTest, WalksAnotherContextsStackToItsEnd) {
  TwoWalks walks;
  g_walks = &walks;
  std::vector<char> stack(256 * 1024);
  getcontext(&g_other_context);
  g_other_context.uc_stack.ss_sp = stack.data();
  g_other_context.uc_stack.ss_size = stack.size();
  g_other_context.uc_link = nullptr;
  makecontext(&g_other_context, OnOtherStack, 0);
  swapcontext(&g_main_context, &g_other_context);
  EXPECT_THAT(walks.ours, ElementsAreArray(walks.libgccs));
  EXPECT_FALSE(walks.is_provable);  // that stack may be unmapped before the next walk
}

void WalkInto(void* walks) { WalkHere(*static_cast<TwoWalks*>(walks)); }

TEST(StackWalkerTest, TakesTheSignatureOffAReturnAddress) {
  TwoWalks walks;
  WalkFromSignedFrame(WalkInto, &walks);
  ExpectSame(walks);
  EXPECT_TRUE(walks.is_provable);
}

TEST(StackWalkerTest, FollowsOtherRegistersWhereTheFrameHangsOnThem) {
  TwoWalks walks;
  WalkFromPreservedRegisterFrame(WalkInto, &walks);
  ExpectSame(walks);
  EXPECT_FALSE(walks.is_provable);
}

TEST(StackWalkerTest, EvaluatesExpressions) {
  TwoWalks walks;
  WalkFromExpressionFrame(WalkInto, &walks);
  ExpectSame(walks);
}

TEST(StackWalkerTest, EndsWithAReasonWhereThereIsNoUnwindInformation) {
  TwoWalks walks;
  WalkFromNoInfoFrame(WalkInto, &walks);
  EXPECT_THAT(walks.ours, SizeIs(2U));
  EXPECT_EQ(walks.end, UnwindEnd::kNoUnwindInfo);
}

}  // namespace
}  // namespace leakgate::test
