#include "runner/judge/lost_later.h"

#include <gmock/gmock.h>

#include "tests/unit/judge/evidence.h"

namespace leakgate {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

class LostLaterTest : public ::testing::Test {
 protected:
  // A test with one finding for each of the blocks that are known.
  WindowResult TestWith(const std::vector<KnownBlock>& known) {
    evidence_ = EvidenceOf(known);
    WindowResult result;
    result.findings = GroupFindings(evidence_.blocks, evidence_.facts, sites_);
    return result;
  }
  LostBlock Lost(std::size_t block) const {
    return {evidence_.blocks[block], Reach::kLost, moment_};
  }

  CallSites sites_{StackOf};
  WindowEvidence evidence_;
  LossMoment moment_ = LossMoment::kAfterWindow;
};

TEST_F(LostLaterTest, MovesABlockToAFindingOfItsOwn) {
  WindowResult result = TestWith({{}, {}});

  EXPECT_THAT(MoveToLost({Lost(1)}, sites_, result), IsEmpty());
  ASSERT_THAT(result.findings, SizeIs(2));
  EXPECT_EQ(result.findings[0].reach, Reach::kLost);
  EXPECT_EQ(result.findings[0].amount, (Amount{64, 1}));
  EXPECT_EQ(result.findings[0].explanation, "lost after the test had ended");
  EXPECT_EQ(result.findings[1].reach, Reach::kRetained);
  EXPECT_EQ(result.findings[1].amount, (Amount{64, 1}));
}

TEST_F(LostLaterTest, LeavesNoFindingWithoutBlocks) {
  WindowResult result = TestWith({{kPool, Reach::kRetained, Disposition::kReplaced}});
  moment_ = LossMoment::kWithDestructors;

  EXPECT_THAT(MoveToLost({Lost(0)}, sites_, result), IsEmpty());
  ASSERT_THAT(result.findings, SizeIs(1));
  EXPECT_EQ(result.findings[0].disposition, Disposition::kOutstanding);
  EXPECT_EQ(result.findings[0].explanation,
            "lost after the test had ended, as static destructors ran");
}

TEST_F(LostLaterTest, LeavesWhatIsExcused) {
  for (const Disposition disposition : {Disposition::kAllowed, Disposition::kKnown}) {
    WindowResult result = TestWith({{kPool, Reach::kRetained, disposition}});

    EXPECT_THAT(MoveToLost({Lost(0)}, sites_, result), IsEmpty());
    ASSERT_THAT(result.findings, SizeIs(1));
    EXPECT_EQ(result.findings[0].disposition, disposition);
  }
}

TEST_F(LostLaterTest, ReturnsWhatNoFindingHas) {
  WindowResult result = TestWith({{kPool}, {kCache}});
  result.findings.clear();

  EXPECT_THAT(MoveToLost({Lost(0), Lost(1)}, sites_, result), SizeIs(2));
}

TEST_F(LostLaterTest, TakesOverALookOfTheWholeProgram) {
  WindowEvidence evidence =
      EvidenceOf({{kPool, Reach::kUnknown}, {kCache}, {kFrameworks}, {kPool, Reach::kLost}});
  const WholeLook look{evidence.blocks,
                       {Reach::kRetained, Reach::kLost, Reach::kLost, Reach::kRetained}};
  ApplyLook(look, "lost later", sites_, evidence);

  EXPECT_EQ(evidence.facts[0].reach, Reach::kRetained);
  EXPECT_EQ(evidence.facts[1].reach, Reach::kLost);
  EXPECT_EQ(evidence.facts[1].explanation.get(), "lost later");
  EXPECT_EQ(evidence.facts[2].reach, Reach::kRetained);  // not the user's
  EXPECT_EQ(evidence.facts[3].reach, Reach::kLost);      // for good
}

}  // namespace
}  // namespace leakgate
