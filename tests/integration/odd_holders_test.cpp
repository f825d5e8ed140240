// Blocks that are held in odd ways are not lost, and the report tells the way. Blocks that were
// held so, and whose pointer is gone, are lost.
#include <gmock/gmock.h>

#include "tests/integration/both_modes.h"
#include "tests/integration/findings.h"

namespace leakgate::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::IsSupersetOf;

// A way to hold a block, and what the report says of the holder.
struct Way {
  const char* name;
  const char* holder;
  const char* how;
};

constexpr const char* kBoxed =
    "by a pointer that is shifted, swapped, complemented, tagged or in halves";

constexpr Way kWays[] = {
    {"Plain", "s_plain", ""},
    {"InANode", "s_node", ""},
    {"Unaligned", "s_entry", "by a pointer that is not aligned"},
    {"UnalignedInABlock", "s_record", "by a pointer that is not aligned"},
    {"HighTag", "s_word", "by a pointer with a tag in its bits"},
    {"LowTag", "s_word", "by a pointer with a tag in its bits"},
    {"LowBits", "s_word", "by a pointer with a tag in its bits"},
    {"PastTheEnd", "s_none", "by a pointer one past the end"},
    {"BeforeBegin", "s_from_one", "by a pointer in front of its begin"},
    {"Epoll", "epoll descriptor", ""},
    {"Timer", "timer", ""},
    {"Sbrk", "a mapping of [heap]", ""},
    {"WithoutAccess", "an anonymous mapping", ""},
    {"ReadOnlyData", "ReadOnlyData::s_words", ""},
    {"GuardedArena", "an anonymous mapping", ""},
    {"UnseenBlock", "s_words", "200 B that leakgate did not see allocated"},
    {"Pipe", "pipe of descriptor", ""},
    {"Socket", "socket of descriptor", ""},
    {"MessageQueue", "message queue of descriptor", "whose bytes cannot be read"},
    {"PendingSignal", "pending signals", ""},
    {"OpenFile", "file of descriptor", ""},
    {"OtherView", "memfd:view", ""},
    {"PrivateFile", "held_oddly", ""},
    {"SignalStack", "", ""},
    {"ByteSwapped", "s_word", kBoxed},
    {"Complemented", "s_word", kBoxed},
    {"NanBoxed", "s_word", kBoxed},
    {"ShiftedByEight", "s_word", kBoxed},
    {"ShiftedAndCounted", "s_word", kBoxed},
    {"TimesTwo", "s_word", kBoxed},
};

class OddHoldersTest : public BothModes {
 protected:
  static const GatedRun& Run(const std::string& filter) {
    return SharedRunByDefault({Fixture("held_oddly"), "--gtest_filter=" + filter}, {"--verbose"});
  }
  static const GatedRun& RunLost() { return Run("Lost/*-*Freed*"); }
};

TEST_P(OddHoldersTest, BlocksThatAreHeldOddlyAreConfirmedLikeOthersThatAreHeld) {
  const GatedRun& run = Run("Held*");
  for (const Way& way : kWays) {
    const nlohmann::json window = run.Test(std::string("Held/") + way.name + ".Block");
    EXPECT_EQ(window["verdict"], "pass") << way.name;
    EXPECT_THAT(TextsOf(window, "holder"),
                Contains(AllOf(HasSubstr(way.holder), HasSubstr(way.how))))
        << way.name;
  }
  EXPECT_EQ(run.command.exit_code, 0) << run.command.standard_error;
}

TEST_P(OddHoldersTest, ABlockWhoseOddPointerIsGoneIsLost) {
  for (const Way& way : kWays) {
    const nlohmann::json window = RunLost().Test(std::string("Lost/") + way.name + ".Block");
    EXPECT_EQ(window["verdict"], "over_budget") << way.name;
    EXPECT_EQ(window["lost"]["blocks"], 1) << way.name;
  }
}

TEST_P(OddHoldersTest, WhatOneLookCannotSeeTheNextOneSees) {
  EXPECT_EQ(Run("Held*").Test("HeldOnItsWay.Block")["verdict"], "pass");
  EXPECT_EQ(RunLost().Test("Lost/OnItsWay.Block")["lost"]["blocks"], 1);
}

TEST_P(OddHoldersTest, FreedMemoryThatTheAgentNeverSawHoldsNothing) {
  EXPECT_EQ(Run("*Freed*").Test("Lost/FreedUnseenBlocks.Block")["lost"]["blocks"], 1);
}

TEST_P(OddHoldersTest, WhatAnotherTestTakesFromAQueueHasNotGrown) {
  const nlohmann::json puts = Run("Queued.Puts:Queued.Takes").Test("Queued.Puts");
  EXPECT_EQ(puts["verdict"], "pass");
  EXPECT_THAT(TextsOf(puts, "disposition"), Each("released_later"));
}

TEST_P(OddHoldersTest, WhatWaitsInAQueueCannotBeToldFromAHandover) {
  const GatedRun& run = Run("Queued.*-Queued.Takes");
  const nlohmann::json puts = run.Test("Queued.Puts");
  EXPECT_EQ(puts["verdict"], "unconfirmed");
  EXPECT_THAT(TextsOf(puts, "explanation"),
              Contains(AllOf(HasSubstr("each repetition puts more of it into pipe of descriptor"),
                             HasSubstr("takes none out"))));
  const nlohmann::json more = run.Test("Queued.PutsAndKeepsMore");
  EXPECT_EQ(more["verdict"], "over_budget");
  EXPECT_THAT(TextsOf(more, "disposition"), IsSupersetOf({"unconfirmed", "steady"}));
  const nlohmann::json waits = run.Test("Queued.WaitsForOneWhoTakes");
  EXPECT_EQ(waits["verdict"], "unconfirmed");
  EXPECT_THAT(TextsOf(waits, "explanation"),
              Contains(HasSubstr("a repetition of it did not end in ")));
}

// A word is a pointer by chance, or left over, but hardly ever.
TEST_P(OddHoldersTest, OfManyLostBlocksNearlyAllAreFound) {
  const nlohmann::json window = Run("LostInBulk*").Test("LostInBulk.Blocks");
  EXPECT_EQ(window["verdict"], "over_budget");
  EXPECT_GE(window["lost"]["blocks"], 950);
}

LEAKGATE_IN_BOTH_MODES(OddHoldersTest);

// There, what one test left is told without a look at the others' blocks, if nothing leads to it.
TEST(OddHoldersBesideALargeHeapTest, EachIsToldAsWithoutIt) {
  std::vector<std::string> names = {"OnItsWay"};
  for (const Way& way : kWays) names.emplace_back(way.name);
  const auto run = [](const std::string& test) {
    const GatedRun gated =
        RunByDefault({FixturePath("held_oddly_untouched"), "--gtest_filter=" + test}, {},
                     {.environment = {"BESIDE=1"}});
    return gated.Test(test);
  };
  for (const std::string& name : names) {
    const bool is_own = name == "OnItsWay";
    const nlohmann::json held = run((is_own ? "HeldOnItsWay" : "Held/" + name) + ".Block");
    EXPECT_EQ(held["verdict"], "pass") << name;
    EXPECT_EQ(held["lost"]["blocks"], 0) << name;
    const nlohmann::json lost = run("Lost/" + name + ".Block");
    EXPECT_EQ(lost["verdict"], "over_budget") << name;
    EXPECT_EQ(lost["lost"]["blocks"], 1) << name;
    EXPECT_EQ(lost["findings"][0]["explanation"],
              "lost by the end of the iteration; the heap is too large to scan it after each test")
        << name;
  }
}

}  // namespace
}  // namespace leakgate::test
