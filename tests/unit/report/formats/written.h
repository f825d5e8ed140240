// What the writers are tested with: runs of every kind, and reports made of them.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "runner/report/formats/writers.h"
#include "tests/unit/report/sample_results.h"

namespace leakgate::sample {

inline const ReportSurroundings kSurroundings = {kProject, "0.1.0"};

inline std::string Written(ReportFormat format, const std::vector<RunResult>& runs,
                           const ReportSurroundings& surroundings = kSurroundings) {
  std::ostringstream out;
  ReportSurroundings around = surroundings;
  around.runs = runs.size();
  const ReportWriter writer = NewReportWriter(format, out, around);
  for (const RunResult& run : runs) writer.add(run);
  writer.finish();
  return out.str();
}

inline Finding SteadyFinding() {
  Finding finding = RetainedFinding(Disposition::kSteady, {48, 2});
  finding.series = {1, 1, 1, 1, 1};
  finding.holder = "g_sessions (src/net/session.cc:12)";
  finding.stack = {
      FrameOf("strdup"),
      FrameOf("net::SessionCache::Put(char const*)", "/home/me/project/src/net/session.cc", 57),
      FrameOf("HttpTest_KeepAlive_Test::TestBody()", "/home/me/project/tests/http_test.cc", 29)};
  finding.stack.Edit()[1].inlined = true;
  finding.kind = AllocationKind::kMalloc;
  finding.user_frame = 1;
  return finding;
}

inline Finding AllowedFinding() {
  Finding finding = RetainedFinding(Disposition::kAllowed, {32, 1});
  finding.explanation = "one socket is pooled";
  finding.allowance = "budgets/net.leakgate.json:7";
  return finding;
}

// Of each kind of issue one, and of each kind of window.
inline RunResult RunOfEverything() {
  WindowResult lost = FailingUncoveredTest("HttpTest.KeepAlive");
  lost.source_file = "/home/me/project/tests/http_test.cc";
  lost.source_line = 25;
  lost.framework = {160, 1};
  lost.findings.push_back(AllowedFinding());
  lost.findings.push_back(FrameworkFinding({160, 1}, "gmock-registry"));

  WindowResult steady = FailingUncoveredTest("HttpTest.Sessions");
  steady.lost = {};
  steady.retained = steady.outstanding = {48, 2};
  steady.violations = {Over(Metric::kSteadyBytes, 48, 0, {}, {48, 2}),
                       Over(Metric::kSteadyBlocks, 2, 0, {}, {48, 2})};
  steady.findings = {SteadyFinding()};

  const LimitSource peak_source = {"budgets/net.leakgate.json", 20, "a large page"};
  WindowResult peak = FailingTest("HttpTest.Download");
  peak.source_file = "/home/me/project/tests/http_test.cc";
  peak.source_line = 60;
  peak.violations.push_back(Over(Metric::kPeakBytes, 70000, 65536, peak_source));
  peak.peak_live_bytes = 70000;

  WindowResult freeing = PassingTest("PoolTest.Delete");
  freeing.verdict = Verdict::kOverBudget;
  freeing.free_errors = {
      {"64 B allocated by new[] and freed by free()", PoolFinding(), PoolFinding()},
      {"freed twice, by free()", SteadyFinding(), {}}};

  WindowResult skipped = PassingTest("PoolTest.Windows");
  skipped.status = TestStatus::kSkipped;
  WindowResult failed = PassingTest("PoolTest.Fails");
  failed.status = TestStatus::kFailed;
  WindowResult crashed =
      InconclusiveTest("PoolTest.Crashes", "the program ended while the test ran");
  crashed.status = TestStatus::kCrashed;

  WindowResult suite = FailingTest("PoolTest");
  suite.kind = WindowKind::kSuite;
  suite.status = TestStatus::kNone;

  RunResult run = RunOf({ProgramWindow(), PassingTest("HttpTest.Get"), lost, steady, peak, suite,
                         freeing, skipped, failed, crashed, UnconfirmedTest("PoolTest.Grow"),
                         InconclusiveTest("PoolTest.Full", "the map was full"), FailingProgram()},
                        BoundarySource::kStream);
  run.arguments = {"--gtest_filter=*"};
  run.reasons = {"2 allocations were not recorded"};
  run.failures = {"budgets/net.leakgate.json:3: the allowance for A.* expired on 2026-01-01"};
  run.warnings = {"budgets/net.leakgate.json:7: nothing used this allowance"};
  return run;
}

inline RunResult PassingRun() {
  RunResult run =
      RunOf({ProgramWindow(), PassingTest("HttpTest.Get"), PassingTest("HttpTest.Put")});
  return run;
}

// Names that mean something else somewhere: markup, control characters, escape
// sequences, other formats' syntax, what is not UTF-8.
inline const std::vector<std::string> kHostileNames = {
    "A.\"quoted\" 'name' <b>&amp;</b> ]]>",
    "A.line\nbreak\r\n::error file=x::y",
    "A.%0A::error::z,title=x:y",
    std::string("A.nul\0x", 7),
    "A.\x1b[31mred\x07\x7f",
    "A.\xff\xfe not UTF-8 \xc3",
    "A.\xEF\xBF\xBF noncharacter \xC2\x85 next line",
    "A.| cell | `code` **bold** [a](http://b) @team #1 </pre></details>",
    "A.semi;colon 12",
    "A.\xF0\x9F\x98\x80 emoji",
};

inline RunResult HostileRun() {
  std::vector<WindowResult> windows;
  for (const std::string& name : kHostileNames) {
    WindowResult window = FailingTest(name);
    window.source_file = "/home/me/project/" + name.substr(2);
    window.source_line = 1;
    ChangeBudget(window, [&](AppliedBudget& budget) { budget.component = name; });
    window.violations[0].component = name;
    for (Finding& finding : window.findings) {
      finding.holder = name;
      finding.stack.Edit()[2].function = name;
      finding.stack.Edit()[2].file = "/home/me/project/" + name.substr(2);
      finding.stack.Edit()[3].module = "/lib/" + name.substr(2);
    }
    WindowResult inconclusive = InconclusiveTest(name + "I", name);
    windows.push_back(window);
    windows.push_back(inconclusive);
    windows.push_back(UnconfirmedTest(name + "U"));
    windows.back().reason = name;
  }
  RunResult run = RunOf(std::move(windows));
  run.binary = kHostileNames[0];
  run.arguments = kHostileNames;
  run.reasons = run.failures = run.warnings = kHostileNames;
  return run;
}

}  // namespace leakgate::sample
