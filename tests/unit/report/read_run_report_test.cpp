// A run report that is read back and written again is the same.
#include "runner/report/read_run_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/report/formats/written.h"

namespace leakgate {
namespace {

using testing::Each;
using testing::Field;
using testing::SizeIs;

TEST(ReadRunReportTest, GivesBackWhatWasWritten) {
  for (const RunResult& run : {sample::RunOfEverything(), sample::PassingRun(), RunResult{}}) {
    const nlohmann::ordered_json report = ToRunReport(run);
    EXPECT_EQ(ToRunReport(ReadRunReport(report)), report);
  }
}

TEST(ReadRunReportTest, GivesBackEveryWord) {
  RunResult run = sample::RunOf({});
  for (int i = 0; i < 11; ++i) {
    WindowResult window = sample::FailingTest();
    window.kind = static_cast<WindowKind>(1 + i % 4);
    window.status =
        window.kind == WindowKind::kTest ? static_cast<TestStatus>(1 + i % 5) : TestStatus::kNone;
    window.verdict = static_cast<Verdict>(i % 5);
    window.findings[0].kind = static_cast<AllocationKind>(1 + i % 10);
    window.findings[0].stack_end = static_cast<UnwindEnd>(i % 7);
    window.findings[0].disposition = static_cast<Disposition>(i);
    window.findings[0].reach = static_cast<Reach>(i % 4);
    window.findings[0].baseline = static_cast<BaselineState>(i % 3);
    run.windows.push_back(window);
    run.verdict = static_cast<Verdict>(i % 3);
    run.mode = static_cast<GateMode>(i % 3);
    run.tracing.boundaries = static_cast<BoundarySource>(i % 3);
    const nlohmann::ordered_json report = ToRunReport(run);
    EXPECT_EQ(ToRunReport(ReadRunReport(report)), report) << i;
  }
}

TEST(ReadRunReportTest, GivesBackWhatFewWindowsHave) {
  using namespace std::chrono_literals;
  WindowResult window = sample::FailingTest();
  window.kind = WindowKind::kProcess;
  window.status = TestStatus::kNone;
  window.started_by = "HttpTest.KeepAlive";
  window.known = {48, 2};
  window.known_violations = window.violations;
  window.begin = 1500ms;
  window.end = 1750ms;
  window.live_bytes_at_begin = 100;
  window.live_bytes_at_end = 164;
  window.measuring_windows = {{"load", "src/config.cc", 12, 3, 1, {64, 4}}, {"", "", 0, 1, 0, {}}};
  window.mappings = window.findings;
  window.mappings[0].kind = AllocationKind::kThreadStack;
  window.mapped = {4096, 1};
  window.reserved_bytes = 8192;
  RunResult run = sample::RunOf({window});
  run.shard = Shard{.index = 2, .total = 5};
  run.baseline = "main.json";
  run.tracing.mapped = {12288, 2};
  const nlohmann::ordered_json report = ToRunReport(run);

  EXPECT_EQ(ToRunReport(ReadRunReport(report)), report);
}

TEST(ReadRunReportTest, KnowsTheWholeAmountOfAViolatedQuantity) {
  RunResult run = sample::RunOf({sample::FailingUncoveredTest()});
  run.windows[0].lost = {};

  const RunResult read = ReadRunReport(ToRunReport(run));

  EXPECT_THAT(read.windows[0].violations, SizeIs(2));
  EXPECT_THAT(read.windows[0].violations, Each(Field(&Violation::amount, Amount{128, 2})));
}

TEST(ReadRunReportTest, ForgetsAUserFrameOutsideOfTheStack) {
  nlohmann::ordered_json report = ToRunReport(sample::RunOf({sample::FailingTest()}));
  report["windows"][0]["findings"][0]["user_frame"] = 100;

  EXPECT_EQ(ReadRunReport(report).windows[0].findings[0].user_frame, std::nullopt);
}

TEST(ReadRunReportTest, ThrowsWhereItIsNoRunReport) {
  EXPECT_THROW((void)ReadRunReport(nlohmann::ordered_json::object()), nlohmann::json::exception);
}

}  // namespace
}  // namespace leakgate
