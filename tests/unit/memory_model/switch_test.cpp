// Tracing is switched on and off while other threads allocate (host/on_switch.h).
#include <gtest/gtest.h>

#include "tests/unit/memory_model/weak_machine.h"

namespace leakgate::test::memory_model {
namespace {

// StartTracing, then SwitchOn.
const Thread kEnables{Store("region base", 1), Store("host malloc", 1), Store("stack events", 1),
                      Store("switch", 1, kRelease)};

// An interposed function that finds the switch on.
Thread Allocates(Order order) {
  return {Load("traces", "switch", order), Require("traces", 1), Load("malloc", "host malloc"),
          Load("base", "region base"), Load("events", "stack events")};
}

bool IsCrash(const Ending& end) {
  return end.at("malloc") == 0 || end.at("base") == 0 || end.at("events") == 0;
}

TEST(SwitchModelTest, ShowsAllThatIsReadyToWhoeverFindsTracingOn) {
  EXPECT_FALSE(CanEnd(Machine::kArm, {kEnables, Allocates(kAcquire)}, IsCrash));
}

TEST(SwitchModelTest, NeedsAnAcquireElsewhereThanOnX86) {
  EXPECT_TRUE(CanEnd(Machine::kArm, {kEnables, Allocates(kPlain)}, IsCrash));
  EXPECT_FALSE(CanEnd(Machine::kX86, {kEnables, Allocates(kPlain)}, IsCrash));
}

TEST(SwitchModelTest, NeedsAReleaseElsewhereThanOnX86) {
  Thread enables = kEnables;
  enables.back().order = kPlain;
  EXPECT_TRUE(CanEnd(Machine::kArm, {enables, Allocates(kAcquire)}, IsCrash));
  EXPECT_FALSE(CanEnd(Machine::kX86, {enables, Allocates(kAcquire)}, IsCrash));
}

// SwitchOff; then the runner stops each thread, and has IsAnyThreadRecording called when it has
// seen each outside the agent. All of that goes through the kernel, which is a fence.
const Thread kDisables{Store("switch", 0),
                       Store("epoch", 1, kRelease),
                       Fence(),
                       Store("asked to stop", 1),
                       Load("is stopped", "stopped"),
                       Require("is stopped", 1),
                       Fence(),
                       Load("sees recording", "recording"),
                       Require("sees recording", 0),
                       Store("region", 0)};

// What a stop is to a thread, or a wait in the kernel.
const Thread kIsStopped{Load("asked", "asked to stop"), Require("asked", 1), Fence(),
                        Store("stopped", 1), Fence()};

// RecordAllocation, and what comes before.
const Thread kRecords{Store("recording", 1), Load("traces", "switch"), Require("traces", 1),
                      Load("uses region", "region")};

bool UsesWhatIsGone(const Ending& end) { return end.at("uses region") == 0; }

const Memory kTracing{{"switch", 1}, {"region", 1}};

TEST(SwitchModelTest, ReleasesNothingThatAThreadWhichWasStoppedUses) {
  for (const Machine machine : {Machine::kArm, Machine::kX86}) {
    EXPECT_FALSE(
        CanEnd(machine, {kDisables, Then(kIsStopped, kRecords)}, UsesWhatIsGone, kTracing));
    EXPECT_FALSE(
        CanEnd(machine, {kDisables, Then(kRecords, kIsStopped)}, UsesWhatIsGone, kTracing));
  }
}

// A store that waits for a later load is what x86 has, too: without the stops, the thread would
// look as if it did not record, and yet find the switch on.
TEST(SwitchModelTest, NeedsTheStopsOnEachProcessor) {
  Thread disables = kDisables;
  std::erase_if(disables, [](const Step& step) { return step.name == "is stopped"; });
  for (const Machine machine : {Machine::kArm, Machine::kX86}) {
    EXPECT_TRUE(CanEnd(machine, {disables, kRecords}, UsesWhatIsGone, kTracing));
  }
}

// In the middle of recording, a stop does not help: so the thread must be seen to record, as it is.
TEST(SwitchModelTest, SeesAThreadThatWasStoppedInTheMiddleOfRecording) {
  Thread stopped_within{Store("recording", 1)};
  stopped_within = Then(Then(stopped_within, kIsStopped), {Load("uses region", "region")});
  for (const Machine machine : {Machine::kArm, Machine::kX86}) {
    EXPECT_FALSE(CanEnd(machine, {kDisables, stopped_within}, UsesWhatIsGone, kTracing));
  }
}

// The host's allocator is where a thread is outside of the agent and comes back. What it has found
// out before, that tracing is on, is not true any more: so the epoch is looked at afterwards.
TEST(SwitchModelTest, TakesTheLongWayAfterAStopWithinTheAllocator) {
  const Thread finds_it_on{Load("traces", "switch"), Require("traces", 1)};
  const Thread records{Store("recording", 1), Load("uses region", "region")};
  const Thread looks_again{Load("seen epoch", "epoch", kAcquire), Require("seen epoch", 0)};
  for (const Machine machine : {Machine::kArm, Machine::kX86}) {
    EXPECT_TRUE(CanEnd(machine, {kDisables, Then(Then(finds_it_on, kIsStopped), records)},
                       UsesWhatIsGone, kTracing));
    EXPECT_FALSE(CanEnd(
        machine, {kDisables, Then(Then(finds_it_on, kIsStopped), Then(looks_again, records))},
        UsesWhatIsGone, kTracing));
  }
}

// ResolveHostFunctions, and a call on another thread meanwhile (RouteBeforeStart).
TEST(SwitchModelTest, ForwardsOnlyToHostFunctionsThatAreResolved) {
  const auto forwards = [](Order order) {
    return Thread{Load("is resolved", "resolved", order), Require("is resolved", 1),
                  Load("malloc", "host malloc")};
  };
  const auto resolves = [](Order order) {
    return Thread{Store("host malloc", 1), Store("resolved", 1, order)};
  };
  const auto is_crash = [](const Ending& end) { return end.at("malloc") == 0; };
  EXPECT_FALSE(CanEnd(Machine::kArm, {resolves(kRelease), forwards(kAcquire)}, is_crash));
  EXPECT_TRUE(CanEnd(Machine::kArm, {resolves(kRelease), forwards(kPlain)}, is_crash));
  EXPECT_TRUE(CanEnd(Machine::kArm, {resolves(kPlain), forwards(kAcquire)}, is_crash));
}

}  // namespace
}  // namespace leakgate::test::memory_model
