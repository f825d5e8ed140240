// Values that the report's tests are written with: small, and of one example,
// a network library whose pool keeps a connection.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runner/result/run_result.h"

namespace leakgate::sample {

inline constexpr char kProject[] = "/home/me/project";

inline Frame FrameOf(std::string function, std::string file = "", int line = 0) {
  Frame frame;
  frame.function = std::move(function);
  frame.file = std::move(file);
  frame.line = line;
  frame.module = "/home/me/project/build/http_test";
  frame.module_offset = 0x1a2b;
  return frame;
}

inline Frame NamelessFrame(std::string module, std::uint64_t offset) {
  Frame frame;
  frame.module = std::move(module);
  frame.module_offset = offset;
  return frame;
}

// From the standard library's inside out to the C library's start.
inline std::vector<Frame> PoolStack() {
  return {
      FrameOf("std::__new_allocator<int>::allocate(unsigned long, void const*)",
              "/usr/include/c++/12/bits/new_allocator.h", 137),
      FrameOf("std::vector<int, std::allocator<int> >::push_back(int&&)",
              "/usr/include/c++/12/bits/stl_vector.h", 1294),
      FrameOf("net::Pool::Grow(unsigned long)", "/home/me/project/src/net/pool.cc", 88),
      FrameOf("net::Client::Connect(net::Url const&)", "/home/me/project/src/net/client.cc", 41),
      FrameOf("HttpTest_KeepAlive_Test::TestBody()", "/home/me/project/tests/http_test.cc", 27),
      FrameOf("void testing::internal::HandleExceptionsInMethodIfSupported<testing::Test, "
              "void>(testing::Test*, void (testing::Test::*)(), char const*)"),
      FrameOf("testing::Test::Run()"),
      FrameOf("main"),
      NamelessFrame("/lib/x86_64-linux-gnu/libc.so.6", 0x271ca),
      FrameOf("_start"),
  };
}

// The innermost frame is the user's.
inline Finding FindingWith(std::vector<Frame> stack) {
  Finding finding;
  finding.amount = {64, 1};
  finding.stack = std::move(stack);
  finding.user_frame = 0;
  return finding;
}

inline Finding PoolFinding(Amount amount = {64, 1}) {
  Finding finding;
  finding.amount = amount;
  finding.kind = AllocationKind::kNew;
  finding.stack = PoolStack();
  finding.user_frame = 2;
  return finding;
}

inline Finding LostFinding(Amount amount = {64, 1}) {
  Finding finding = PoolFinding(amount);
  finding.reach = Reach::kLost;
  return finding;
}

inline Finding RetainedFinding(Disposition disposition, Amount amount = {64, 1}) {
  Finding finding = PoolFinding(amount);
  finding.reach = Reach::kRetained;
  finding.disposition = disposition;
  return finding;
}

inline Finding FrameworkFinding(Amount amount, std::string rule) {
  Finding finding;
  finding.amount = amount;
  finding.framework_rule = std::move(rule);
  finding.disposition = Disposition::kFramework;
  finding.stack = {FrameOf("testing::internal::MockRegistry::Add()"), FrameOf("main")};
  return finding;
}

// Of a quantity whose whole amount is `amount`. A limit that a file sets is net's.
inline Violation Over(Metric metric, std::int64_t actual, std::int64_t limit,
                      LimitSource source = {}, Amount amount = {128, 2}) {
  Violation violation;
  violation.metric = metric;
  violation.actual = actual;
  violation.component = source.file.empty() ? "" : "net";
  violation.limit = {limit, std::move(source)};
  violation.amount = amount;
  return violation;
}

inline WindowResult PassingTest(std::string name, int iteration = 1) {
  WindowResult window;
  window.name = std::move(name);
  window.iteration = iteration;
  window.status = TestStatus::kPassed;
  return window;
}

inline AppliedBudget BudgetOf(std::string component, std::string owner = "") {
  AppliedBudget budget;
  budget.component = std::move(component);
  budget.owner = std::move(owner);
  return budget;
}

inline void ChangeBudget(WindowResult& window, const std::function<void(AppliedBudget&)>& change) {
  AppliedBudget budget = *window.budget;
  change(budget);
  window.budget = std::make_shared<const AppliedBudget>(std::move(budget));
}

// Over the limit of line 14 of net's budget file.
inline WindowResult FailingTest(std::string name = "HttpTest.KeepAlive", int iteration = 1) {
  const LimitSource source = {"budgets/net.leakgate.json", 14, ""};
  WindowResult window = PassingTest(std::move(name), iteration);
  window.verdict = Verdict::kOverBudget;
  window.outstanding = {128, 2};
  window.growth = {128, 2};
  window.allocated = {4096, 31};
  AppliedBudget budget = BudgetOf("net");
  budget.outstanding.bytes = AppliedLimit{0, source};
  window.budget = std::make_shared<const AppliedBudget>(std::move(budget));
  window.violations = {Over(Metric::kOutstandingBytes, 128, 0, source)};
  window.findings = {PoolFinding({128, 2})};
  return window;
}

// Fails by the default policy; no file covers it.
inline WindowResult FailingUncoveredTest(std::string name = "HttpTest.KeepAlive") {
  WindowResult window = FailingTest(std::move(name));
  window.budget = NoBudget();
  window.lost = {128, 2};
  window.violations = {Over(Metric::kLostBytes, 128, 0), Over(Metric::kLostBlocks, 2, 0)};
  window.findings = {LostFinding({128, 2})};
  return window;
}

// It retains blocks that no repetition could confirm.
inline WindowResult UnconfirmedTest(std::string name = "HttpTest.KeepAlive") {
  WindowResult window = PassingTest(std::move(name));
  window.verdict = Verdict::kUnconfirmed;
  window.outstanding = window.retained = {64, 1};
  window.findings = {RetainedFinding(Disposition::kUnconfirmed)};
  window.findings[0].explanation = "it hung when run alone";
  window.reason = "64 B in 1 block retained by net::Pool::Grow: it hung when run alone";
  return window;
}

inline WindowResult InconclusiveTest(std::string name, std::string reason) {
  WindowResult window = PassingTest(std::move(name));
  window.verdict = Verdict::kInconclusive;
  window.reason = std::move(reason);
  return window;
}

inline WindowResult ProgramWindow(Verdict verdict = Verdict::kNotGated) {
  WindowResult window;
  window.kind = WindowKind::kProgram;
  window.name = "http_test";
  window.verdict = verdict;
  return window;
}

inline WindowResult FailingProgram() {
  WindowResult window = FailingTest();
  window.kind = WindowKind::kProgram;
  window.name = "http_test";
  window.status = TestStatus::kNone;
  return window;
}

// A run of `windows` in which GoogleTest was told of each failure.
inline RunResult RunOf(std::vector<WindowResult> windows,
                       BoundarySource boundaries = BoundarySource::kListener) {
  RunResult result;
  result.binary = "build/http_test";
  result.program.exit_code = 0;
  result.tracing.boundaries = boundaries;
  result.windows = std::move(windows);
  result.wall = std::chrono::milliseconds(2310);
  result.gating = std::chrono::milliseconds(41);
  for (WindowResult& window : result.windows) {
    if (window.verdict != Verdict::kOverBudget) continue;
    result.verdict = Verdict::kOverBudget;
    window.was_failed_inside =
        window.kind == WindowKind::kTest && window.status != TestStatus::kCrashed;
    if (window.was_failed_inside) window.failed_inside_for = window.violations;
  }
  if (result.verdict == Verdict::kOverBudget) result.exit_code = 1;
  return result;
}

}  // namespace leakgate::sample
