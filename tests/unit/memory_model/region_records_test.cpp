// Records that the agent writes into the region, and the runner reads at any time.
#include <gtest/gtest.h>

#include "tests/unit/memory_model/weak_machine.h"

namespace leakgate::test::memory_model {
namespace {

// NoteOwnMemory, and RegionReader::OwnRanges. RegisterThread is like it: the tid comes last.
TEST(RegionRecordModelTest, HasTheBeginOfARangeThatHasAnEnd) {
  const auto notes = [](Order order) { return Thread{Store("begin", 1), Store("end", 2, order)}; };
  const auto reads = [](Order order) {
    return Thread{Load("read end", "end", order), Require("read end", 2),
                  Load("read begin", "begin")};
  };
  const auto is_mixture = [](const Ending& end) { return end.at("read begin") == 0; };
  EXPECT_FALSE(CanEnd(Machine::kArm, {notes(kRelease), reads(kAcquire)}, is_mixture));
  EXPECT_TRUE(CanEnd(Machine::kArm, {notes(kPlain), reads(kAcquire)}, is_mixture));
  EXPECT_TRUE(CanEnd(Machine::kArm, {notes(kRelease), reads(kPlain)}, is_mixture));
}

TEST(RegionRecordModelTest, IsAMixtureOnEachProcessorIfARangeIsReadFromItsBegin) {
  const Thread reads{Load("read begin", "begin", kAcquire), Load("read end", "end", kAcquire),
                     Require("read end", 2)};
  for (const Machine machine : {Machine::kArm, Machine::kX86}) {
    EXPECT_TRUE(CanEnd(machine, {{Store("begin", 1), Store("end", 2, kRelease)}, reads},
                       [](const Ending& end) { return end.at("read begin") == 0; }));
  }
}

// OpenWindow opens window 1, and RegionReader::IsWhole looks whether that can be.
const Thread kOpensWindow{Store("state", 1, kRelease), Store("count", 2, kRelease),
                          Store("current", 1, kRelease)};
const Memory kNoWindow{{"count", 1}};
bool IsTakenForDamage(const Ending& end) {
  return end.at("read current") >= end.at("read count") ||
         (end.at("read count") == 2 && end.at("read state") == 0);
}

TEST(RegionRecordModelTest, IsWholeWhileAWindowOpens) {
  const Thread reads{Load("read current", "current", kAcquire),
                     Load("read count", "count", kAcquire), Load("read state", "state")};
  EXPECT_FALSE(CanEnd(Machine::kArm, {kOpensWindow, reads}, IsTakenForDamage, kNoWindow));
  const Thread plain{Load("read current", "current"), Load("read count", "count"),
                     Load("read state", "state")};
  EXPECT_TRUE(CanEnd(Machine::kArm, {kOpensWindow, plain}, IsTakenForDamage, kNoWindow));
}

// As the runner once did.
TEST(RegionRecordModelTest, WouldBeTakenForDamagedOnEachProcessorIfTheCountWereReadFirst) {
  const Thread reads{Load("read count", "count", kAcquire),
                     Load("read current", "current", kAcquire), Load("read state", "state")};
  for (const Machine machine : {Machine::kArm, Machine::kX86}) {
    EXPECT_TRUE(CanEnd(machine, {kOpensWindow, reads}, IsTakenForDamage, kNoWindow));
  }
}

// A thread makes a node of a stack, another finds it and records a block there: the runner that
// sees the block sees the node, though it has met the second thread alone (record/stack_table.cpp).
TEST(RegionRecordModelTest, ShowsTheStackOfABlockWhicheverThreadHasMadeIt) {
  const Thread makes{Store("node", 1), Store("newest child", 1, kRelease)};
  const auto records = [](Order order) {
    return Thread{Load("found", "newest child", order), Require("found", 1),
                  Store("start word", 1, kRelease)};
  };
  const Thread reads{Load("block", "start word", kAcquire), Require("block", 1),
                     Load("stack", "node")};
  const auto is_missing = [](const Ending& end) { return end.at("stack") == 0; };
  EXPECT_FALSE(CanEnd(Machine::kArm, {makes, records(kAcquire), reads}, is_missing));
  const Thread makes_in_no_order{Store("node", 1), Store("newest child", 1)};
  EXPECT_TRUE(CanEnd(Machine::kArm, {makes_in_no_order, records(kAcquire), reads}, is_missing));
}

// The mailbox: a question and its answer (windows/mailbox.cpp,
// runner/host/linux/mailbox_server.cpp).
TEST(RegionRecordModelTest, AnswersTheQuestionThatWasAsked) {
  const auto asks = [](Order order) {
    return Thread{Store("window", 7), Store("request", 1, kRelease),
                  Load("replied", "reply", order), Require("replied", 1),
                  Load("verdict read", "verdict")};
  };
  const auto answers = [](Order order) {
    return Thread{Load("asked", "request", kAcquire), Require("asked", 1), Load("judged", "window"),
                  Store("verdict", 1), Store("reply", 1, order)};
  };
  const auto is_wrong = [](const Ending& end) {
    return end.at("judged") != 7 || end.at("verdict read") != 1;
  };
  EXPECT_FALSE(CanEnd(Machine::kArm, {asks(kAcquire), answers(kRelease)}, is_wrong));
  EXPECT_TRUE(CanEnd(Machine::kArm, {asks(kPlain), answers(kRelease)}, is_wrong));
  EXPECT_TRUE(CanEnd(Machine::kArm, {asks(kAcquire), answers(kPlain)}, is_wrong));
}

}  // namespace
}  // namespace leakgate::test::memory_model
