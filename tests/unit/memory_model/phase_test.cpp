// Phases, which a thread opens and others enter (windows/phases.cpp, windows/phase_order.cpp).
#include <gtest/gtest.h>

#include "tests/unit/memory_model/weak_machine.h"

namespace leakgate::test::memory_model {
namespace {

// EnsurePhases, BeginPhase and Enter, by the first measuring window.
const Thread kOpensPhase{Store("table", 1, kRelease), Store("begun by", 1),
                         Store("phase", 1, kRelease)};

// NotePhaseOf, of a thread that finds the phase.
Thread Enters(Order order) {
  return {Load("entered", "phase", order), Require("entered", 1), Load("found", "table", kAcquire),
          Load("owner", "begun by")};
}

TEST(PhaseModelTest, HasItsRecordForWhoeverEntersIt) {
  const auto is_wrong = [](const Ending& end) {
    return end.at("found") == 0 || end.at("owner") == 0;
  };
  EXPECT_FALSE(CanEnd(Machine::kArm, {kOpensPhase, Enters(kAcquire)}, is_wrong));
  EXPECT_FALSE(CanEnd(Machine::kX86, {kOpensPhase, Enters(kPlain)}, is_wrong));
}

// It crashed: an acquire of the table does not wait for a plain load before it.
TEST(PhaseModelTest, NeedsAnAcquireElsewhereThanOnX86) {
  EXPECT_TRUE(CanEnd(Machine::kArm, {kOpensPhase, Enters(kPlain)},
                     [](const Ending& end) { return end.at("found") == 0; }));
}

// A phase ends while another thread is about to count a block in it. The one that began it sees no
// block, and takes the phase back: EndMeasuringWindow. It begins it again when the other has come
// to an end, as the program sees to.
const Memory kInPhase{{"phase", 1}};
const Thread kCounts{Load("entered", "phase", kAcquire), Require("entered", 1),
                     Store("is shared", 1), Store("blocks", 1), Store("joined", 1, kRelease)};
const Thread kEndsAndBegins{Store("phase", 0, kRelease),
                            Load("blocks seen", "blocks"),
                            Load("shared at the end", "is shared"),
                            Load("other's end", "joined", kAcquire),
                            Require("other's end", 1),
                            Load("shared at the begin", "is shared")};

TEST(PhaseModelTest, IsNotBegunAgainWhereAnotherThreadHasBeenInIt) {
  for (const Machine machine : {Machine::kArm, Machine::kX86}) {
    EXPECT_FALSE(CanEnd(
        machine, {kCounts, kEndsAndBegins},
        [](const Ending& end) { return end.at("shared at the begin") == 0; }, kInPhase));
  }
}

// So to ask at the end alone would not do, on no processor.
TEST(PhaseModelTest, MustBeAskedForOnceMoreWhenItBegins) {
  for (const Machine machine : {Machine::kArm, Machine::kX86}) {
    EXPECT_TRUE(CanEnd(
        machine, {kCounts, kEndsAndBegins},
        [](const Ending& end) {
          return end.at("blocks seen") == 0 && end.at("shared at the end") == 0;
        },
        kInPhase));
  }
}

}  // namespace
}  // namespace leakgate::test::memory_model
