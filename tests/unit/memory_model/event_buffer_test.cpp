// Buffers of a recording, which go back and forth between threads and the runner
// (common/event_stream.h, events/event_writer.cpp, runner/region/event_buffers.cpp).
#include <gtest/gtest.h>

#include "tests/unit/memory_model/weak_machine.h"

namespace leakgate::test::memory_model {
namespace {

constexpr int kFree = 1;
constexpr int kFull = 2;

// PublishEvents, and DrainOne.
TEST(EventBufferModelTest, ShowsEventsThatAreWritten) {
  const auto writes = [](Order order) {
    return Thread{Store("event", 1), Store("used", 1, order)};
  };
  const auto drains = [](Order order) {
    return Thread{Load("end", "used", order), Require("end", 1), Load("read", "event")};
  };
  const auto is_wrong = [](const Ending& end) { return end.at("read") == 0; };
  EXPECT_FALSE(CanEnd(Machine::kArm, {writes(kRelease), drains(kAcquire)}, is_wrong));
  EXPECT_TRUE(CanEnd(Machine::kArm, {writes(kPlain), drains(kAcquire)}, is_wrong));
  EXPECT_TRUE(CanEnd(Machine::kArm, {writes(kRelease), drains(kPlain)}, is_wrong));
}

// A thread leaves one buffer and takes the next: whoever finds the next one finds all that is in
// the one before, which comes first in the file.
TEST(EventBufferModelTest, ShowsAThreadsBuffersInItsOrder) {
  const auto writes = [](Order order) {
    return Thread{Store("used before", 2, kRelease), Store("state before", kFull, kRelease),
                  Store("sequence", 2, order)};
  };
  const auto drains = [](Order order) {
    return Thread{Load("found", "sequence", order), Require("found", 2),
                  Load("end before", "used before", kAcquire)};
  };
  const auto is_wrong = [](const Ending& end) { return end.at("end before") != 2; };
  EXPECT_FALSE(CanEnd(Machine::kArm, {writes(kRelease), drains(kAcquire)}, is_wrong));
  EXPECT_TRUE(CanEnd(Machine::kArm, {writes(kPlain), drains(kAcquire)}, is_wrong));
  EXPECT_TRUE(CanEnd(Machine::kArm, {writes(kRelease), drains(kPlain)}, is_wrong));
}

// GiveBack, and TakeFree: the runner has read what the next owner overwrites.
TEST(EventBufferModelTest, IsReadBeforeItsNextOwnerWrites) {
  const auto gives = [](Order order) {
    return Thread{Load("read", "event"), Store("state", kFree, order)};
  };
  const auto takes = [](Order order) {
    return Thread{Load("taken", "state", order), Require("taken", kFree), Store("event", 9)};
  };
  const auto is_wrong = [](const Ending& end) { return end.at("read") == 9; };
  EXPECT_FALSE(CanEnd(Machine::kArm, {gives(kRelease), takes(kAcquire)}, is_wrong));
  EXPECT_TRUE(CanEnd(Machine::kArm, {gives(kPlain), takes(kAcquire)}, is_wrong));
}

// Whoever takes one off the count of free buffers finds a free one: else that would be one fewer
// for good.
TEST(EventBufferModelTest, IsFoundByWhoeverCountsOnIt) {
  const Thread gives{Store("state", kFree, kRelease), Store("free count", 1, kRelease)};
  const auto takes = [](Order order) {
    return Thread{Load("count", "free count", order), Require("count", 1),
                  Load("looked at", "state")};
  };
  const auto is_missed = [](const Ending& end) { return end.at("looked at") != kFree; };
  EXPECT_FALSE(CanEnd(Machine::kArm, {gives, takes(kAcquire)}, is_missed));
  EXPECT_TRUE(CanEnd(Machine::kArm, {gives, takes(kPlain)}, is_missed));
  EXPECT_FALSE(CanEnd(Machine::kX86, {gives, takes(kPlain)}, is_missed));
}

// WakeRunner and WaitUntilFilled: a runner that goes to sleep is woken, or sees that it must not.
TEST(EventBufferModelTest, WakesARunnerThatGoesToSleep) {
  const Thread waits{Store("waits", 1, kRelease), Fence(), Load("filled seen", "filled")};
  const auto is_lost = [](const Ending& end) {
    return end.at("filled seen") == 0 && end.at("waits seen") == 0;
  };
  // On Arm, seq_cst is a release and then an acquire, which keep their order. On x86 the addition
  // is locked, which is a fence.
  EXPECT_FALSE(
      CanEnd(Machine::kArm,
             {Thread{Store("filled", 1, kRelease), Load("waits seen", "waits", kAcquire)}, waits},
             is_lost));
  EXPECT_FALSE(CanEnd(Machine::kX86,
                      {Thread{Store("filled", 1), Fence(), Load("waits seen", "waits")}, waits},
                      is_lost));
  EXPECT_TRUE(CanEnd(Machine::kArm,
                     {Thread{Store("filled", 1, kRelease), Load("waits seen", "waits")}, waits},
                     is_lost));
}

}  // namespace
}  // namespace leakgate::test::memory_model
