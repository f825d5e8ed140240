// What the program's own code is told of its measuring windows, by the agent's code and the
// meter in one process.
#include "runner/judge/window_meter.h"

#include <gmock/gmock.h>

#include "plugin/agent/windows/measuring_windows.h"
#include "runner/attribution/code_owner.h"
#include "tests/unit/agent/traced_region.h"

namespace leakgate::test {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::uint64_t kBlock = 0x7200'0000;

std::string WordsOfFindings(const std::vector<Finding>& findings, std::size_t room) {
  return std::to_string(findings.size()) + " call site in " + std::to_string(room);
}

class WindowMeterTest : public RecordingTest {
 protected:
  void SetUp() override {
    test_ = OpenWindow();
    if (!agent::CanRecord()) return;
    const agent::RecordingGuard guard;
    handle_ = agent::OpenMeasuringWindow(guard, {.name = "load", .file = "load.cpp", .line = 7});
  }
  // With nothing outstanding it asks nobody.
  void TearDown() override {
    agent::RecordFree(At(kBlock), {FreeKind::kFree, LEAKGATE_CALLER_FRAME()});
    if (agent::CanRecord()) {
      const agent::RecordingGuard guard;
      (void)agent::EndMeasuringWindow(guard, handle_, {});
    }
    LeaveWindow(test_);
  }

  // The answer, to a question as the agent asks it.
  bool Ask(Question question, std::uint32_t room = 0) {
    mailbox_->question = static_cast<std::uint32_t>(question);
    mailbox_->subject = handle_ % kMaxMeasuringWindows;
    mailbox_->tid = agent::CurrentPid();
    mailbox_->text_room = room;
    mailbox_->text_length = 0;
    mailbox_->bytes = mailbox_->blocks = -1;
    return meter_.Answer(*mailbox_);
  }
  std::string Text() const { return {mailbox_->text, mailbox_->text_length}; }

  std::uint32_t test_ = 0;
  std::uint32_t handle_ = 0;
  Symbolizer symbolizer_{IsRuntimeModule};
  WindowMeter meter_{Reader(), symbolizer_, WordsOfFindings};
  std::unique_ptr<Mailbox> mailbox_ = std::make_unique<Mailbox>();
};

TEST_F(WindowMeterTest, TellsHowMuchIsOutstandingInTheWordsThatItIsGiven) {
  Allocate(kBlock, 48);
  ASSERT_TRUE(Ask(Question::kMeasure, 100));
  EXPECT_EQ(mailbox_->bytes, 48);
  EXPECT_EQ(mailbox_->blocks, 1);
  EXPECT_EQ(Text(), "1 call site in 100");
}

TEST_F(WindowMeterTest, SaysNothingWhereNobodyReadsIt) {
  Allocate(kBlock, 48);
  ASSERT_TRUE(Ask(Question::kMeasure));
  EXPECT_EQ(mailbox_->blocks, 1);
  EXPECT_EQ(Text(), "");
}

TEST_F(WindowMeterTest, LeavesOtherQuestionsToOthers) {
  Allocate(kBlock, 48);
  EXPECT_FALSE(Ask(Question::kJudge));
  EXPECT_FALSE(Ask(Question::kTakeSnapshot));
  EXPECT_EQ(mailbox_->blocks, -1);
}

TEST_F(WindowMeterTest, KeepsWhatWindowsHadOutstandingAsTheyEnded) {
  Allocate(kBlock, 48);
  ASSERT_TRUE(Ask(Question::kMeasure));
  EXPECT_THAT(meter_.ResultsOf(test_), IsEmpty());
  ASSERT_TRUE(Ask(Question::kMeasureAtEnd));
  const std::vector<MeasuringWindowResult> results = meter_.ResultsOf(test_);
  ASSERT_THAT(results, SizeIs(1));
  EXPECT_EQ(results[0].name, "load");
  EXPECT_EQ(results[0].file, "load.cpp");
  EXPECT_EQ(results[0].line, 7);
  EXPECT_EQ(results[0].count, 1);
  EXPECT_EQ(results[0].outstanding, (Amount{48, 1}));
}

}  // namespace
}  // namespace leakgate::test
