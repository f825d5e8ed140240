#include "tests/unit/judge/evidence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace leakgate {
namespace {

using ::testing::ElementsAre;

constexpr std::uint32_t kWindow = 5;

std::vector<EarlierFreeCopy> Freed(std::size_t blocks, std::uint32_t stack = kPool,
                                   std::uint32_t window = kWindow, std::uint64_t size_bytes = 64) {
  return std::vector<EarlierFreeCopy>(blocks, {stack, window, size_bytes});
}

WindowEvidence Replaced(const std::vector<EarlierFreeCopy>& frees, WindowEvidence evidence) {
  CallSites sites(StackOf);
  MarkReplaced(frees, kWindow, sites, evidence);
  return evidence;
}

bool IsCandidateBlock(const KnownBlock& block) {
  CallSites sites(StackOf);
  return IsCandidate(EvidenceOf({block}), 0, sites);
}

bool EveryBlock(const LiveBlock&) { return true; }

TEST(CandidateTest, IsWhatIsTheUsersAndOpen) {
  EXPECT_TRUE(IsCandidateBlock({.disposition = Disposition::kOutstanding}));
  EXPECT_TRUE(IsCandidateBlock({.disposition = Disposition::kUnconfirmed}));
}

TEST(CandidateTest, IsNotWhatIsTheFrameworks) {
  EXPECT_FALSE(IsCandidateBlock({.stack = kFrameworks}));
}

TEST(CandidateTest, IsNotWhatIsDecided) {
  EXPECT_FALSE(IsCandidateBlock({.disposition = Disposition::kAllowed}));
  EXPECT_FALSE(IsCandidateBlock({.disposition = Disposition::kOtherThread}));
}

TEST(ReplacedTest, IsWhatWasFreedAsOftenFromTheSameCallSite) {
  const WindowEvidence evidence = Replaced(Freed(2), EvidenceOf({{}, {}}));

  EXPECT_THAT(DispositionsOf(evidence),
              ElementsAre(Disposition::kReplaced, Disposition::kReplaced));
  EXPECT_EQ(evidence.facts[0].explanation, "128 B in 2 blocks of this call stack freed meanwhile");
}

TEST(ReplacedTest, IsNothingWhereMoreIsLeftThanWasFreed) {
  EXPECT_THAT(DispositionsOf(Replaced(Freed(1), EvidenceOf({{}, {}}))),
              ElementsAre(Disposition::kOutstanding, Disposition::kOutstanding));
}

TEST(ReplacedTest, IsNothingWhereMoreBytesAreLeftThanWereFreed) {
  EXPECT_THAT(DispositionsOf(Replaced(Freed(2, kPool, kWindow, 32), EvidenceOf({{}}))),
              ElementsAre(Disposition::kReplaced));
  EXPECT_THAT(DispositionsOf(Replaced(Freed(2, kPool, kWindow, 31), EvidenceOf({{}}))),
              ElementsAre(Disposition::kOutstanding));
}

TEST(ReplacedTest, IsNothingThatTheSameFunctionMadeForAnotherCaller) {
  EXPECT_THAT(DispositionsOf(Replaced(Freed(1, kPoolByAnother), EvidenceOf({{}}))),
              ElementsAre(Disposition::kOutstanding));
}

TEST(ReplacedTest, IsNothingOfAnotherCallSite) {
  EXPECT_THAT(DispositionsOf(Replaced(Freed(1, kCache), EvidenceOf({{}}))),
              ElementsAre(Disposition::kOutstanding));
}

TEST(ReplacedTest, IsNothingThatAnotherWindowFreed) {
  EXPECT_THAT(DispositionsOf(Replaced(Freed(1, kPool, kWindow + 1), EvidenceOf({{}}))),
              ElementsAre(Disposition::kOutstanding));
}

TEST(ReplacedTest, IsNothingThatIsLost) {
  EXPECT_THAT(DispositionsOf(Replaced(Freed(1), EvidenceOf({{.reach = Reach::kLost}}))),
              ElementsAre(Disposition::kOutstanding));
}

TEST(ReplacedTest, LeavesWhatIsAllowedAllowed) {
  EXPECT_THAT(
      DispositionsOf(Replaced(Freed(2), EvidenceOf({{.disposition = Disposition::kAllowed}, {}}))),
      ElementsAre(Disposition::kAllowed, Disposition::kReplaced));
}

TEST(LeaveOpenTest, LeavesWhatIsRetainedToARepetition) {
  WindowEvidence evidence = EvidenceOf({{.reach = Reach::kRetained}, {.reach = Reach::kUnknown}});
  MarkUnconfirmed(EveryBlock, evidence);

  EXPECT_THAT(DispositionsOf(evidence),
              ElementsAre(Disposition::kUnconfirmed, Disposition::kUnconfirmed));
}

TEST(LeaveOpenTest, LeavesNothingOpenWhoseBudgetIsLiteral) {
  WindowEvidence evidence = EvidenceOf({{.reach = Reach::kRetained}});
  MarkUnconfirmed([](const LiveBlock&) { return false; }, evidence);

  EXPECT_THAT(DispositionsOf(evidence), ElementsAre(Disposition::kOutstanding));
}

TEST(LeaveOpenTest, LeavesNothingOpenThatIsLostOrDecided) {
  WindowEvidence evidence =
      EvidenceOf({{.reach = Reach::kLost},
                  {.reach = Reach::kIndirectlyLost},
                  {.reach = Reach::kRetained, .disposition = Disposition::kReplaced}});
  MarkUnconfirmed(EveryBlock, evidence);

  EXPECT_THAT(
      DispositionsOf(evidence),
      ElementsAre(Disposition::kOutstanding, Disposition::kOutstanding, Disposition::kReplaced));
}

TEST(ReleasedTest, IsWhatIsLiveNoMore) {
  WindowEvidence evidence = EvidenceOf({{}, {}});
  MarkReleased({evidence.blocks[1]}, "freed in the suite's tear-down", Releasable::kAllOpen,
               evidence);

  EXPECT_THAT(DispositionsOf(evidence),
              ElementsAre(Disposition::kReleasedLater, Disposition::kOutstanding));
  EXPECT_EQ(evidence.facts[0].explanation, "freed in the suite's tear-down");
  EXPECT_EQ(evidence.facts[1].explanation, "");
}

TEST(ReleasedTest, IsABlockWhoseAddressHasAnotherOwnerNow) {
  WindowEvidence evidence = EvidenceOf({{}});
  LiveBlock other = evidence.blocks[0];
  other.stack = kCache;
  MarkReleased({other}, "", Releasable::kAllOpen, evidence);

  EXPECT_THAT(DispositionsOf(evidence), ElementsAre(Disposition::kReleasedLater));
}

TEST(ReleasedTest, LeavesWhatIsDecided) {
  WindowEvidence evidence = EvidenceOf({{.disposition = Disposition::kAllowed}});
  MarkReleased({}, "", Releasable::kAllOpen, evidence);

  EXPECT_THAT(DispositionsOf(evidence), ElementsAre(Disposition::kAllowed));
}

TEST(SameBlockTest, DiffersInAddressStackWindowOrSize) {
  const LiveBlock block = EvidenceOf({{}}).blocks[0];
  EXPECT_TRUE(IsSameBlock(block, block));
  for (const auto member : {&LiveBlock::address, &LiveBlock::size_bytes}) {
    LiveBlock other = block;
    ++(other.*member);
    EXPECT_FALSE(IsSameBlock(block, other));
  }
  for (const auto member : {&LiveBlock::stack, &LiveBlock::window}) {
    LiveBlock other = block;
    ++(other.*member);
    EXPECT_FALSE(IsSameBlock(block, other));
  }
}

}  // namespace
}  // namespace leakgate
