#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "runner/process/linux/waiting_call.h"

namespace leakgate {
namespace {

using testing::ElementsAre;

TEST(WaitingThreadsTest, ReadsWhatTheKernelTells) {
  const auto waiting =
      ParseWaiting("232 0x5 0x7ffc10 0x10 0xffffffff 0x0 0x8 0x7ffc00 0x7f0010203040\n");
  ASSERT_TRUE(waiting);
  EXPECT_EQ(waiting->call, SYS_epoll_wait);
  EXPECT_THAT(waiting->arguments, ElementsAre(5, 0x7ffc10, 0x10, 0xffffffff, 0, 8));
  EXPECT_EQ(waiting->pc, 0x7f0010203040U);
}

TEST(WaitingThreadsTest, KnowsWhoRuns) {
  EXPECT_EQ(ParseWaiting("running\n")->call, -1);
  EXPECT_EQ(ParseWaiting("running")->pc, 0U);
  const auto stopped = ParseWaiting("-1 0x7ffc00 0x7f0010203040");
  ASSERT_TRUE(stopped);
  EXPECT_EQ(stopped->call, -1);
  EXPECT_EQ(stopped->pc, 0x7f0010203040U);
}

TEST(WaitingThreadsTest, TakesNothingElse) {
  EXPECT_EQ(ParseWaiting(""), std::nullopt);
  EXPECT_EQ(ParseWaiting("232 0x5"), std::nullopt);
  EXPECT_EQ(ParseWaiting("read 0x5 0x0 0x0 0x0 0x0 0x0 0x0 0x0"), std::nullopt);
}

StopCost CostOfCall(std::int64_t call, std::array<std::uint64_t, 6> arguments = {},
                    WaitsAt at = WaitsAt::kUnknown) {
  return CostOf({.call = call, .arguments = arguments, .pc = 1}, at);
}

TEST(WaitingThreadsTest, CostsNothingWhereTheKernelGoesOnWaiting) {
  EXPECT_EQ(CostOfCall(-1), StopCost::kNone);
  EXPECT_EQ(CostOfCall(SYS_read, {}, WaitsAt::kPipe), StopCost::kNone);
  EXPECT_EQ(CostOfCall(SYS_read, {}, WaitsAt::kEvents), StopCost::kNone);
  EXPECT_EQ(CostOfCall(SYS_recvfrom, {}, WaitsAt::kSocket), StopCost::kNone);
  EXPECT_EQ(CostOfCall(SYS_accept4, {}, WaitsAt::kSocket), StopCost::kNone);
  EXPECT_EQ(CostOfCall(SYS_futex), StopCost::kNone);
  EXPECT_EQ(CostOfCall(SYS_clock_nanosleep), StopCost::kNone);
}

TEST(WaitingThreadsTest, CostsALimitThatBeginsAnew) {
  EXPECT_EQ(CostOfCall(SYS_epoll_wait, {5, 0, 10, 0xFFFFFFFF}), StopCost::kNone);
  EXPECT_EQ(CostOfCall(SYS_epoll_wait, {5, 0, 10, 100}), StopCost::kRestarts);
  EXPECT_EQ(CostOfCall(SYS_rt_sigtimedwait, {1, 0, 0}), StopCost::kNone);
  EXPECT_EQ(CostOfCall(SYS_rt_sigtimedwait, {1, 0, 0x7ff0}), StopCost::kRestarts);
  EXPECT_EQ(CostOfCall(SYS_msgrcv), StopCost::kNone);
  EXPECT_EQ(CostOfCall(SYS_accept, {}, WaitsAt::kHastySocket), StopCost::kRestarts);
}

TEST(WaitingThreadsTest, ShowsWhereACallReturnsWhatItHasSoFar) {
  EXPECT_EQ(CostOfCall(SYS_write, {}, WaitsAt::kPipe), StopCost::kShows);
  EXPECT_EQ(CostOfCall(SYS_sendmsg, {}, WaitsAt::kSocket), StopCost::kShows);
  EXPECT_EQ(CostOfCall(SYS_recvfrom, {4, 0, 8, MSG_WAITALL}, WaitsAt::kSocket), StopCost::kShows);
  EXPECT_EQ(CostOfCall(SYS_recvmsg, {4, 0, MSG_WAITALL}, WaitsAt::kSocket), StopCost::kShows);
  EXPECT_EQ(CostOfCall(SYS_recvfrom, {}, WaitsAt::kGreedySocket), StopCost::kShows);
  EXPECT_EQ(CostOfCall(SYS_io_getevents, {1, 2, 2}), StopCost::kShows);
}

// connect cannot be made again: it would say that it is under way.
TEST(WaitingThreadsTest, ShowsWhereACallCannotBeMadeAgain) {
  EXPECT_EQ(CostOfCall(SYS_connect), StopCost::kShows);
  EXPECT_EQ(CostOfCall(SYS_vfork), StopCost::kShows);
  EXPECT_EQ(CostOfCall(9999), StopCost::kShows);
}

}  // namespace
}  // namespace leakgate
