// The reports as a whole, as a person and a machine get to see them.
#include "tests/unit/report/golden.h"

#include <gtest/gtest.h>

#include "runner/report/failure_text.h"
#include "runner/report/json/json_report.h"
#include "runner/report/summary_text.h"
#include "tests/unit/report/sample_results.h"

namespace leakgate {
namespace {

using sample::FrameOf;

Finding CopyFinding() {
  Finding finding;
  finding.amount = {64, 1};
  finding.kind = AllocationKind::kMalloc;
  finding.stack = {
      FrameOf("strdup"),
      FrameOf("net::SessionCache::Put(char const*)", "/home/me/project/src/net/session.cc", 57),
      FrameOf("HttpTest_KeepAlive_Test::TestBody()", "/home/me/project/tests/http_test.cc", 29)};
  finding.stack.Edit()[1].inlined = true;
  finding.user_frame = 1;
  finding.stack_end = UnwindEnd::kDepthLimit;
  return finding;
}

WindowResult KeepAlive() {
  WindowResult window = sample::FailingTest();
  window.source_file = "/home/me/project/tests/http_test.cc";
  window.source_line = 25;
  window.framework = {160, 1};
  window.findings = {sample::PoolFinding(), CopyFinding(),
                     sample::FrameworkFinding({160, 1}, "gmock-registry")};
  return window;
}

WindowResult Reopen() {
  WindowResult window = sample::FailingUncoveredTest("DiskTest.Reopen");
  window.status = TestStatus::kFailed;
  window.outstanding = {48, 1};
  window.growth = {-16, 0};
  window.lost = {48, 1};
  window.violations = {sample::Over(Metric::kLostBytes, 48, 0, {}, {48, 1}),
                       sample::Over(Metric::kLostBlocks, 1, 0, {}, {48, 1})};
  window.findings = {sample::LostFinding({48, 1}),
                     sample::RetainedFinding(Disposition::kOneTime, {32, 1})};
  window.findings[1].series = {0, 0, 0, 0, 0};
  return window;
}

WindowResult Program() {
  WindowResult window = sample::ProgramWindow();
  window.reason = "no budget file sets limits for the program window";
  window.framework = {72704, 1};
  return window;
}

RunResult RunWith(BoundarySource boundaries) {
  RunResult result =
      sample::RunOf({Program(), sample::PassingTest("HttpTest.Get"), KeepAlive(), Reopen(),
                     sample::InconclusiveTest("DiskTest.Full", "the test's process was killed")},
                    boundaries);
  result.arguments = {"--gtest_filter=*"};
  result.reasons = {"2 allocations were not recorded"};
  result.tracing.drops = {{"map_full", 2}};
  result.tracing.stack_ends = {{"depth_limit", 1}};
  return result;
}

TEST(GoldenTest, FailureInsideGoogleTest) {
  ExpectGolden("failure.txt", FailureText(KeepAlive(), {Colour::kOff, sample::kProject}) + '\n');
}

TEST(GoldenTest, SummaryOfASuiteWithTheListener) {
  ExpectGolden("summary_listener.txt",
               SummaryText(RunWith(BoundarySource::kListener), {Colour::kOff, sample::kProject}));
}

TEST(GoldenTest, SummaryOfAnUntouchedBinary) {
  ExpectGolden("summary_stream.txt",
               SummaryText(RunWith(BoundarySource::kStream), {Colour::kOff, sample::kProject}));
}

TEST(GoldenTest, SummaryInColour) {
  ExpectGolden("summary_colour.txt",
               SummaryText(RunWith(BoundarySource::kStream), {Colour::kOn, sample::kProject}));
}

TEST(GoldenTest, JsonReport) {
  ExpectGolden("report.json", ToJson(RunWith(BoundarySource::kStream)));
}

}  // namespace
}  // namespace leakgate
