// The region's smaller tables, as the agent fills them and the reader reads them, and
// what the reader makes of a table that has been scribbled on.
#include <gmock/gmock.h>
#include <pthread.h>
#include <sys/prctl.h>

#include <thread>

#include "plugin/agent/record/thread_start.h"
#include "tests/unit/agent/traced_region.h"

namespace leakgate::test {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

class RegionTablesTest : public RecordingTest {
 protected:
  static RegionHeader& Header() { return agent::g_region.header(); }
  __attribute__((noinline)) static std::optional<agent::FreedBlock> Free(std::uint64_t address) {
    return agent::RecordFree(At(address), {FreeKind::kFree, LEAKGATE_CALLER_FRAME()});
  }
};

TEST_F(RegionTablesTest, TellAFreeOfABlockOfAnEarlierWindow) {
  const std::uint32_t outer = OpenWindow();
  Allocate(0x7000'0000, 100);
  const std::uint32_t stack = Reader().LiveBlocks(outer).value().at(0).stack;
  const std::uint32_t inner = OpenWindow();
  const std::uint32_t from = Reader().EarlierFreeCount();
  Allocate(0x7000'0100, 11);
  Free(0x7000'0100);
  EXPECT_THAT(Reader().EarlierFrees(from), IsEmpty());
  Free(0x7000'0000);
  const std::vector<EarlierFreeCopy> frees = Reader().EarlierFrees(from);
  LeaveWindow(inner);
  LeaveWindow(outer);
  ASSERT_THAT(frees, SizeIs(1));
  EXPECT_EQ(frees[0].stack, stack);
  EXPECT_EQ(frees[0].window, inner);
  EXPECT_EQ(frees[0].size_bytes, 100U);
}

TEST_F(RegionTablesTest, TakeAnEarlierFreeBackThatDidNotHappen) {
  const std::uint32_t outer = OpenWindow();
  Allocate(0x7001'0000, 100);
  const std::uint32_t inner = OpenWindow();
  const std::uint32_t from = Reader().EarlierFreeCount();
  agent::RestoreBlock(At(0x7001'0000), Free(0x7001'0000).value());
  EXPECT_THAT(Reader().EarlierFrees(from), IsEmpty());
  Free(0x7001'0000);
  EXPECT_THAT(Reader().EarlierFrees(from), SizeIs(1));
  LeaveWindow(inner);
  LeaveWindow(outer);
}

TEST_F(RegionTablesTest, GoOnCountingEarlierFreesWhenFull) {
  const std::uint32_t outer = OpenWindow();
  Allocate(0x7002'0000, 1);
  const std::uint32_t inner = OpenWindow();
  const std::uint32_t before = Header().earlier_free_count;
  Header().earlier_free_count = kMaxEarlierFrees;
  Free(0x7002'0000);
  EXPECT_EQ(Reader().EarlierFreeCount(), kMaxEarlierFrees + 1);
  EXPECT_THAT(Reader().EarlierFrees(kMaxEarlierFrees - 1), IsEmpty());
  Header().earlier_free_count = before;
  LeaveWindow(inner);
  LeaveWindow(outer);
}

struct Started {
  std::uint32_t id = 0;
  std::uint64_t pointer = 0;
};

void* NoteWhoRuns(void* argument) {
  auto& started = *static_cast<Started*>(argument);
  prctl(PR_SET_NAME, "some-worker");
  if (agent::CanRecord()) started.id = agent::t_thread.state->thread;
  started.pointer = reinterpret_cast<std::uint64_t>(__builtin_thread_pointer());
  return nullptr;
}

// As the interposed pthread_create does.
__attribute__((noinline)) void RunThread(Started& started) {
  agent::ThreadTicket* const ticket =
      agent::TakeTicket(NoteWhoRuns, &started, nullptr, LEAKGATE_CALLER_FRAME());
  pthread_t thread{};
  ASSERT_EQ(pthread_create(&thread, nullptr, agent::RunTicket, ticket), 0);
  pthread_join(thread, nullptr);
}

TEST_F(RegionTablesTest, TellWhereAThreadComesFromAndHowItWasCalled) {
  const std::uint32_t window = OpenWindow();
  Started started;
  RunThread(started);
  LeaveWindow(window);
  const ThreadCopy thread = Reader().Thread(started.id);
  EXPECT_NE(thread.tid, 0);
  EXPECT_EQ(thread.birth_window, window);
  EXPECT_EQ(thread.parent, agent::t_thread.state->thread);
  EXPECT_GT(Reader().Stack(thread.origin_stack).frames.size(), 2U);
  EXPECT_EQ(thread.pointer, started.pointer);
  EXPECT_TRUE(thread.has_ended);
  EXPECT_EQ(thread.name, "some-worker");
}

TEST_F(RegionTablesTest, TellOfAThreadWhoseCreationWasNotSeenWhatIsKnown) {
  Started started;
  std::thread([&] { NoteWhoRuns(&started); }).join();
  const ThreadCopy thread = Reader().Thread(started.id);
  EXPECT_NE(thread.tid, 0);
  EXPECT_EQ(thread.parent, 0U);
  EXPECT_EQ(thread.origin_stack, 0U);
  EXPECT_TRUE(thread.has_ended);
}

TEST_F(RegionTablesTest, TellTheAgentsOwnMemory) {
  ASSERT_TRUE(agent::CanRecord());
  const auto state = reinterpret_cast<std::uint64_t>(agent::t_thread.state);
  EXPECT_THAT(Reader().OwnRanges(), ::testing::Contains(::testing::Truly([&](const OwnRange& own) {
                return state >= own.begin && state < own.end;
              })));
}

TEST_F(RegionTablesTest, ReadAsEmptyOutOfBounds) {
  EXPECT_EQ(Reader().Thread(0).tid, 0);
  EXPECT_EQ(Reader().Thread(Reader().ThreadCount()).tid, 0);
  EXPECT_EQ(Reader().Thread(UINT32_MAX).tid, 0);
  EXPECT_EQ(Reader().Allowance(0).id, 0U);
  EXPECT_EQ(Reader().Allowance(UINT32_MAX).id, 0U);
  EXPECT_THAT(Reader().EarlierFrees(UINT32_MAX), IsEmpty());
}

TEST_F(RegionTablesTest, ReadAsEmptyWhereScribbledOn) {
  const std::uint32_t errors = Header().free_error_count;
  const std::uint32_t allowances = Header().allowance_count;
  const std::size_t known_errors = Reader().FreeErrors().size();
  FreeError* const scribbled = agent::g_region.free_errors() + errors;
  scribbled[0].kind = 9;
  scribbled[0].free_kind = 1;
  scribbled[1].kind = 1;
  scribbled[1].free_kind = 77;
  scribbled[2].kind = 1;
  scribbled[2].free_kind = 1;
  scribbled[2].allocation_kind = 99;
  agent::g_region.allowances()[allowances].kind = 7;
  Header().free_error_count = errors + 3;
  Header().allowance_count = UINT32_MAX;
  EXPECT_THAT(Reader().FreeErrors(), SizeIs(known_errors));
  EXPECT_EQ(Reader().AllowanceCount(), kMaxAllowances);
  EXPECT_EQ(Reader().Allowance(allowances).id, 0U);
  Header().free_error_count = errors;
  Header().allowance_count = allowances;

  const std::uint32_t ranges = Header().own_range_count;
  const std::size_t known_ranges = Reader().OwnRanges().size();
  agent::g_region.own_ranges()[ranges] = {.begin = 5, .end = 5};
  Header().own_range_count = ranges + 1;
  EXPECT_THAT(Reader().OwnRanges(), SizeIs(known_ranges));
  Header().own_range_count = ranges;
}

}  // namespace
}  // namespace leakgate::test
