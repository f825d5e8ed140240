// The machine itself: it must allow and forbid what the literature says of these programs. The
// names are the usual ones (J. Alglave et al., Herding Cats, TOPLAS 2014).
#include "tests/unit/memory_model/weak_machine.h"

#include <gtest/gtest.h>

namespace leakgate::test::memory_model {
namespace {

bool CanOnArm(const std::vector<Thread>& threads) { return CanEnd(Machine::kArm, threads); }
bool CanOnX86(const std::vector<Thread>& threads) { return CanEnd(Machine::kX86, threads); }

// Message passing: the flag is seen, the message before it is not.
std::vector<Thread> MessagePassing(const Thread& send, const Thread& receive) {
  Thread reader = receive;
  reader.push_back(Require("flag", 1));
  reader.push_back(Require("data", 0));
  return {send, reader};
}
const Thread kSend{Store("x", 1), Store("y", 1)};
const Thread kSendInOrder{Store("x", 1), Store("y", 1, kRelease)};
const Thread kReceive{Load("flag", "y"), Load("data", "x")};
const Thread kReceiveInOrder{Load("flag", "y", kAcquire), Load("data", "x")};

TEST(WeakMachineTest, PassesMessagesInOrderOnlyWhereBothSidesKeepIt) {
  EXPECT_TRUE(CanOnArm(MessagePassing(kSend, kReceive)));
  EXPECT_TRUE(CanOnArm(MessagePassing(kSendInOrder, kReceive)));
  EXPECT_TRUE(CanOnArm(MessagePassing(kSend, kReceiveInOrder)));
  EXPECT_FALSE(CanOnArm(MessagePassing(kSendInOrder, kReceiveInOrder)));
  EXPECT_FALSE(CanOnX86(MessagePassing(kSend, kReceive)));
}

TEST(WeakMachineTest, KeepsAnAddressInOrderButNoDecisionOfALoad) {
  EXPECT_FALSE(CanOnArm(
      MessagePassing(kSendInOrder, {Load("flag", "y"), LoadThrough("flag", "data", "x")})));
  EXPECT_TRUE(CanOnArm(
      MessagePassing(kSendInOrder, {Load("flag", "y"), Require("flag", 1), Load("data", "x")})));
  EXPECT_FALSE(CanOnArm(MessagePassing(
      kSendInOrder, {Load("flag", "y"), Require("flag", 1), FenceOfLoads(), Load("data", "x")})));
}

TEST(WeakMachineTest, KeepsADecisionOfAStoreInOrder) {
  const Thread decides{Load("a", "x"), Require("a", 1), Store("y", 1)};
  const Thread depends{Load("b", "y"), StoreSum("x", "b", 0)};
  EXPECT_FALSE(CanOnArm({decides, depends}));
  EXPECT_TRUE(CanOnArm({{Load("a", "x"), Store("y", 1), Require("a", 1)}, depends}));
  EXPECT_FALSE(CanOnX86({{Load("a", "x"), Store("y", 1), Require("a", 1)}, depends}));
}

// Store buffering, as in Dekker's and Peterson's algorithms.
TEST(WeakMachineTest, LetsAStoreWaitForALaterLoadUnlessAFenceIsBetween) {
  const auto both = [](const Thread& a, const Thread& b) {
    Thread first{Store("x", 1)};
    first.insert(first.end(), a.begin(), a.end());
    Thread second{Store("y", 1)};
    second.insert(second.end(), b.begin(), b.end());
    first.insert(first.end(), {Load("a", "y"), Require("a", 0)});
    second.insert(second.end(), {Load("b", "x"), Require("b", 0)});
    return std::vector<Thread>{first, second};
  };
  for (const Machine machine : {Machine::kArm, Machine::kX86}) {
    EXPECT_TRUE(CanEnd(machine, both({}, {})));
    EXPECT_TRUE(CanEnd(machine, both({Fence()}, {})));
    EXPECT_TRUE(CanEnd(machine, both({FenceOfLoads()}, {FenceOfLoads()})));
    EXPECT_FALSE(CanEnd(machine, both({Fence()}, {Fence()})));
  }
}

TEST(WeakMachineTest, KeepsAReleaseBeforeALaterAcquire) {
  EXPECT_FALSE(CanOnArm({{Store("x", 1, kRelease), Load("a", "y", kAcquire), Require("a", 0)},
                         {Store("y", 1, kRelease), Load("b", "x", kAcquire), Require("b", 0)}}));
}

TEST(WeakMachineTest, LetsAThreadReadItsOwnStoreBeforeOthersDo) {
  const Thread a{Store("x", 1), Load("own_a", "x"), Load("a", "y"), Require("own_a", 1),
                 Require("a", 0)};
  const Thread b{Store("y", 1), Load("own_b", "y"), Load("b", "x"), Require("own_b", 1),
                 Require("b", 0)};
  EXPECT_TRUE(CanOnArm({a, b}));
  EXPECT_TRUE(CanOnX86({a, b}));
}

TEST(WeakMachineTest, ForwardsAStoreThatIsNotYetSure) {
  // Known as PPOCA.
  EXPECT_TRUE(CanOnArm({kSendInOrder,
                        {Load("flag", "y"), Require("flag", 1), Store("z", 1), Load("own", "z"),
                         LoadThrough("own", "data", "x"), Require("data", 0)}}));
}

TEST(WeakMachineTest, NeverGoesBackAtOnePlace) {
  EXPECT_FALSE(CanOnArm(
      {{Store("x", 1)}, {Load("a", "x"), Load("b", "x"), Require("a", 1), Require("b", 0)}}));
  EXPECT_FALSE(CanOnArm({{Store("x", 1), Store("x", 2)},
                         {Load("a", "x"), Load("b", "x"), Require("a", 2), Require("b", 1)}}));
  EXPECT_FALSE(CanOnArm({{Store("x", 1), Load("a", "x"), Require("a", 0)}}));
  EXPECT_FALSE(CanEnd(Machine::kArm, {{Store("x", 1), Store("x", 2)}},
                      [](const Ending& end) { return end.at("x") != 2; }));
}

// Independent reads of independent writes: all see stores in one order.
TEST(WeakMachineTest, ShowsAStoreToAllOthersAtOnce) {
  const Thread a{Store("x", 1)};
  const Thread b{Store("y", 1)};
  EXPECT_FALSE(
      CanOnArm({a,
                b,
                {Load("p", "x"), LoadThrough("p", "q", "y"), Require("p", 1), Require("q", 0)},
                {Load("r", "y"), LoadThrough("r", "s", "x"), Require("r", 1), Require("s", 0)}}));
  EXPECT_TRUE(CanOnArm({a,
                        b,
                        {Load("p", "x"), Load("q", "y"), Require("p", 1), Require("q", 0)},
                        {Load("r", "y"), Load("s", "x"), Require("r", 1), Require("s", 0)}}));
}

}  // namespace
}  // namespace leakgate::test::memory_model
