// Counters that their threads add to, and sums of them (windows/counters.cpp).
#include <gtest/gtest.h>

#include "tests/unit/memory_model/weak_machine.h"

namespace leakgate::test::memory_model {
namespace {

// One block lives all the while. It is counted as allocated.
const Memory kOneLives{{"allocated", 1}};

// SumOnce: what has been freed first.
const Thread kSums{Load("f", "freed"), Load("r", "record"), FenceOfLoads(), Load("a", "allocated")};

bool IsTooSmall(const Ending& end) { return end.at("a") - end.at("f") + end.at("r") < 1; }

// A thread that allocates one more and frees it, by AddAsOwner.
Thread AllocatesAndFrees(Order order) {
  return {Load("a0", "allocated"), StoreSum("allocated", "a0", 1, order),  //
          Load("f0", "freed"), StoreSum("freed", "f0", 1, order)};
}

TEST(SumsModelTest, MissNoBlockThatLivesOn) {
  EXPECT_FALSE(CanEnd(Machine::kArm, {AllocatesAndFrees(kRelease), kSums}, IsTooSmall, kOneLives));
}

TEST(SumsModelTest, NeedAdditionsThatAreReleasesElsewhereThanOnX86) {
  EXPECT_TRUE(CanEnd(Machine::kArm, {AllocatesAndFrees(kPlain), kSums}, IsTooSmall, kOneLives));
  EXPECT_FALSE(CanEnd(Machine::kX86, {AllocatesAndFrees(kPlain), kSums}, IsTooSmall, kOneLives));
}

TEST(SumsModelTest, NeedAFenceBetweenWhatWasFreedAndWhatWasAllocated) {
  Thread sums = kSums;
  std::erase_if(sums, [](const Step& step) { return step.IsFence(); });
  EXPECT_TRUE(CanEnd(Machine::kArm, {AllocatesAndFrees(kRelease), sums}, IsTooSmall, kOneLives));
}

// As SumWindow once did.
TEST(SumsModelTest, MissABlockOnEachProcessorIfWhatWasAllocatedIsReadFirst) {
  const Thread sums{Load("a", "allocated"), FenceOfLoads(), Load("f", "freed"),
                    Load("r", "record")};
  for (const Machine machine : {Machine::kArm, Machine::kX86}) {
    EXPECT_TRUE(CanEnd(machine, {AllocatesAndFrees(kRelease), sums}, IsTooSmall, kOneLives));
  }
}

// The program passes a block to another thread, which frees it: in the shard's window, or
// elsewhere, which counts in the record of the block's (AddToRecord).
TEST(SumsModelTest, MissNoBlockThatLivesOnWhereAnotherThreadFrees) {
  const Thread allocates{Load("a0", "allocated"), StoreSum("allocated", "a0", 1, kRelease),
                         Store("passed", 1, kRelease)};
  const auto frees = [](const char* counter, int change, Order order) {
    return Thread{Load("given", "passed", kAcquire), Require("given", 1), Load("c0", counter),
                  StoreSum(counter, "c0", change, order)};
  };
  for (const Thread& freeing : {frees("freed", 1, kRelease), frees("record", -1, kRelease)}) {
    EXPECT_FALSE(CanEnd(Machine::kArm, {allocates, freeing, kSums}, IsTooSmall, kOneLives));
  }
  // On this machine, the acquire by which the block came would do; the language asks for the
  // release.
  EXPECT_FALSE(CanEnd(Machine::kArm, {allocates, frees("record", -1, kPlain), kSums}, IsTooSmall,
                      kOneLives));
}

// SumTotals: what has been allocated first. A peak is never higher than what was live.
TEST(SumsModelTest, TellNoMoreLiveThanThereEverWas) {
  const auto is_too_high = [](const Ending& end) { return end.at("a") - end.at("f") > 2; };
  const Thread two_in_turn{Store("allocated", 2, kRelease), Store("freed", 1, kRelease),
                           Store("allocated", 3, kRelease), Store("freed", 2, kRelease)};
  const Thread totals{Load("a", "allocated"), FenceOfLoads(), Load("f", "freed")};
  const Thread unordered{Load("a", "allocated"), Load("f", "freed")};
  const Thread turned{Load("f", "freed"), FenceOfLoads(), Load("a", "allocated")};
  EXPECT_FALSE(CanEnd(Machine::kArm, {two_in_turn, totals}, is_too_high, kOneLives));
  EXPECT_TRUE(CanEnd(Machine::kArm, {two_in_turn, unordered}, is_too_high, kOneLives));
  EXPECT_TRUE(CanEnd(Machine::kX86, {two_in_turn, turned}, is_too_high, kOneLives));
}

// HandOver: what a shard has outstanding becomes its record's. A sum that meets it has both or
// neither, or does not count.
Thread HandsOver(const Step& between) {
  return {Store("sequence", 1), between, Store("record", 1), Store("before", 1),
          Store("sequence", 2, kRelease)};
}
Thread SumsUndisturbed(Order first, const Step& between) {
  return {Load("s1", "sequence", first), Load("r", "record"), Load("b", "before"), between,
          Load("s2", "sequence", kAcquire)};
}
bool IsWrong(const Ending& end) {
  const bool is_exact = end.at("s1") == end.at("s2") && end.at("s1") % 2 == 0;
  const int allocated = 1;
  return is_exact && end.at("r") + allocated - end.at("b") != 1;
}
const Step kNothing = Load("unused", "nowhere");

TEST(SumsModelTest, NoticeAHandOver) {
  EXPECT_FALSE(CanEnd(Machine::kArm,
                      {HandsOver(Fence()), SumsUndisturbed(kAcquire, FenceOfLoads())}, IsWrong));
}

TEST(SumsModelTest, NeedEachOrderOfAHandOverElsewhereThanOnX86) {
  const std::vector<std::vector<Thread>> weaker{
      {HandsOver(kNothing), SumsUndisturbed(kAcquire, FenceOfLoads())},
      {HandsOver(Fence()), SumsUndisturbed(kPlain, FenceOfLoads())},
      {HandsOver(Fence()), SumsUndisturbed(kAcquire, kNothing)}};
  for (const std::vector<Thread>& threads : weaker) {
    EXPECT_TRUE(CanEnd(Machine::kArm, threads, IsWrong));
    EXPECT_FALSE(CanEnd(Machine::kX86, threads, IsWrong));
  }
}

}  // namespace
}  // namespace leakgate::test::memory_model
