// The words of a block in the live map, which the runner reads while blocks come and go
// (record/live_map.h, common/live_slot.h). Here, each word of a block holds the block's number.
#include <gtest/gtest.h>

#include "tests/unit/memory_model/weak_machine.h"

namespace leakgate::test::memory_model {
namespace {

const Memory kFirstBlock{{"start", 1}, {"rest", 1}, {"size", 1}};

// LiveMap::Clear, and LiveMap::Write of another large block at the same address.
const Step kClear = Store("start", 0, kRelease);
Thread Write(int start, Order order) {
  return {Store("size", 2, order), Store("rest", 2, order), Store("start", start, kRelease)};
}
// LiveWords::BlockAt of the runner.
const Thread kReads{Load("start 1", "start", kAcquire),
                    Load("rest 1", "rest", kAcquire),
                    Load("size 1", "size"),
                    FenceOfLoads(),
                    Load("start 2", "start", kAcquire),
                    Load("rest 2", "rest")};

bool IsTaken(const Ending& end) {
  return end.at("start 1") != 0 && end.at("start 1") == end.at("start 2") &&
         end.at("rest 1") == end.at("rest 2");
}
bool IsMixture(const Ending& end) {
  return IsTaken(end) &&
         (end.at("start 1") != end.at("rest 1") || end.at("rest 1") != end.at("size 1"));
}
// Both blocks have the same start word: one call stack has allocated both.
bool IsMixtureOfLikes(const Ending& end) {
  return IsTaken(end) && end.at("rest 1") != end.at("size 1");
}

TEST(LiveSlotModelTest, IsReadAsOneBlock) {
  for (const Machine machine : {Machine::kArm, Machine::kX86}) {
    EXPECT_FALSE(
        CanEnd(machine, {Then({kClear}, Write(2, kRelease)), kReads}, IsMixture, kFirstBlock));
    EXPECT_FALSE(CanEnd(machine, {Then({kClear}, Write(1, kRelease)), kReads}, IsMixtureOfLikes,
                        kFirstBlock));
  }
}

TEST(LiveSlotModelTest, IsReadAsOneBlockWhereTheAllocatorPassesTheAddressToAnotherThread) {
  const Thread frees{kClear, Store("arena", 1, kRelease)};
  const Thread allocates{Load("got", "arena", kAcquire), Require("got", 1)};
  EXPECT_FALSE(CanEnd(Machine::kArm, {frees, Then(allocates, Write(2, kRelease)), kReads},
                      IsMixture, kFirstBlock));
}

// A release of the start word keeps what is before it in order, and not what follows.
TEST(LiveSlotModelTest, NeedsEachWordToBeReleasedElsewhereThanOnX86) {
  const std::vector<Thread> threads{Then({kClear}, Write(2, kPlain)), kReads};
  EXPECT_TRUE(CanEnd(Machine::kArm, threads, IsMixture, kFirstBlock));
  EXPECT_FALSE(CanEnd(Machine::kX86, threads, IsMixture, kFirstBlock));
}

TEST(LiveSlotModelTest, NeedsTheFenceOfTheReaderElsewhereThanOnX86) {
  Thread reads = kReads;
  std::erase_if(reads, [](const Step& step) { return step.IsFence(); });
  const std::vector<Thread> threads{Then({kClear}, Write(2, kRelease)), reads};
  EXPECT_TRUE(CanEnd(Machine::kArm, threads, IsMixture, kFirstBlock));
  EXPECT_FALSE(CanEnd(Machine::kX86, threads, IsMixture, kFirstBlock));
}

TEST(LiveSlotModelTest, NeedsTheSizeToBeReadAfterTheRestElsewhereThanOnX86) {
  Thread reads = kReads;
  reads[1].order = kPlain;
  const std::vector<Thread> threads{Then({kClear}, Write(1, kRelease)), reads};
  EXPECT_TRUE(CanEnd(Machine::kArm, threads, IsMixtureOfLikes, kFirstBlock));
  EXPECT_FALSE(CanEnd(Machine::kX86, threads, IsMixtureOfLikes, kFirstBlock));
}

// As the runner once did.
TEST(LiveSlotModelTest, NeedsASecondLookAtTheStartWordOnEachProcessor) {
  const Thread reads{Load("start 1", "start", kAcquire), Load("rest 1", "rest")};
  const auto is_mixture = [](const Ending& end) {
    return end.at("start 1") != 0 && end.at("start 1") != end.at("rest 1");
  };
  for (const Machine machine : {Machine::kArm, Machine::kX86}) {
    EXPECT_TRUE(
        CanEnd(machine, {Then({kClear}, Write(2, kRelease)), reads}, is_mixture, kFirstBlock));
  }
}

TEST(LiveSlotModelTest, NeedsASecondLookAtTheRestWordWhereStartWordsAreAlike) {
  const auto is_mixture = [](const Ending& end) {
    return end.at("start 1") == end.at("start 2") && end.at("rest 1") != end.at("size 1");
  };
  EXPECT_TRUE(
      CanEnd(Machine::kX86, {Then({kClear}, Write(1, kRelease)), kReads}, is_mixture, kFirstBlock));
}

// LiveMap::Wipe leaves a rest word of 0.
TEST(LiveSlotModelTest, IsNotReadAsABlockWithoutASizeWhileItIsWiped) {
  const auto wipes = [](Order order) { return Thread{kClear, Store("rest", 0, order)}; };
  const auto is_mixture = [](const Ending& end) { return IsTaken(end) && end.at("rest 1") == 0; };
  EXPECT_FALSE(CanEnd(Machine::kArm, {wipes(kRelease), kReads}, is_mixture, kFirstBlock));
  EXPECT_TRUE(CanEnd(Machine::kArm, {wipes(kPlain), kReads}, is_mixture, kFirstBlock));
}

}  // namespace
}  // namespace leakgate::test::memory_model
