// The result of one `leakgate run`: the value that every report is written from.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/region_layout.h"
#include "runner/attribution/finding.h"
#include "runner/budget/verdict.h"
#include "runner/region/amount.h"

namespace leakgate {

// A test's result as GoogleTest saw it; kNone for suites and the program.
enum class TestStatus { kNone, kPassed, kFailed, kSkipped, kNotPassed, kCrashed };

inline std::shared_ptr<const AppliedBudget> NoBudget() {
  static const auto kNone = std::make_shared<const AppliedBudget>();
  return kNone;
}

// A block that was freed as it must not be.
struct FreeErrorResult {
  std::string text;  // "new[] freed by free()", "freed twice"
  Finding freed_at;  // the stack that freed
  Finding made_at;   // that allocated; no stack if not known
  BaselineState baseline = BaselineState::kNoBaseline;
};

// Measuring windows of the program's code (leakgate::Window), all of one place in it, that
// had something outstanding as they ended.
struct MeasuringWindowResult {
  std::string name;
  std::string file;  // where it was opened; empty if not known
  int line = 0;
  std::int64_t count = 0;       // of windows
  std::int64_t open_count = 0;  // of those: that ended with the program only
  Amount outstanding;           // of all of them
};

struct WindowResult {
  WindowKind kind = WindowKind::kTest;
  std::string name;        // "Suite.Test", "Suite", or the binary's file name
  std::string started_by;  // the test that was running when a process was started; may be empty
  int iteration = 1;
  std::string source_file;  // of the test; empty if not known
  int source_line = 0;      // of the test's definition; 0 if not known
  TestStatus status = TestStatus::kNone;
  Verdict verdict = Verdict::kPass;
  std::string reason;              // of all but kPass and kOverBudget, one line
  bool was_failed_inside = false;  // the verdict was given to the process while it waited
  std::shared_ptr<const AppliedBudget> budget = NoBudget();  // shared by many windows
  Amount outstanding;
  Amount lost;      // of outstanding, as far as it was asked
  Amount retained;  // likewise
  Amount allowed;   // of outstanding: covered by allowances
  Amount known;     // of outstanding: what the baseline has
  Amount framework;
  Amount growth;
  Amount allocated;
  std::int64_t peak_live_bytes = 0;      // of the process, while the window was open
  std::int64_t live_bytes_at_begin = 0;  // of the process
  std::int64_t live_bytes_at_end = 0;
  std::chrono::nanoseconds begin{};   // by the steady clock
  std::chrono::nanoseconds end{};     // likewise; of a window that is still open, now
  std::vector<Violation> violations;  // empty unless over budget
  std::vector<Finding> findings;      // the user's own first, each group by bytes, descending
  // Budgets of components whose code allocated some of it, other than `budget`'s.
  std::vector<std::shared_ptr<const AppliedBudget>> code_budgets;
  // What the program itself mapped in the window and has not unmapped at its end, thread
  // stacks as well: one finding for each call site, whose blocks are mappings.
  std::vector<Finding> mappings;
  Amount mapped;                    // of those: what counts
  std::int64_t reserved_bytes = 0;  // mapped with PROT_NONE; not among those
  // What the process has at the window's end and had not at its begin; not told
  // where no budget asks.
  std::optional<std::int64_t> file_descriptors;
  std::optional<std::int64_t> threads;
  std::vector<std::string> left_behind;  // the same by name: "descriptor 7: /tmp/db"
  std::vector<FreeErrorResult> free_errors;
  std::string reach_problem;  // why it could not be told what is lost; empty: it was told
  std::vector<MeasuringWindowResult> measuring_windows;  // opened in it, most bytes first
  // The most that the baseline had of each metric that was over its limit there.
  std::map<std::string, std::int64_t> baseline_excess;
  std::vector<Violation> known_violations;  // what baseline_excess excuses
};

// Those that the baseline has are none of a run's own.
inline std::int64_t CountNewFreeErrors(const WindowResult& window) {
  std::int64_t count = 0;
  for (const FreeErrorResult& error : window.free_errors) {
    if (error.baseline != BaselineState::kKnown) ++count;
  }
  return count;
}

struct ProgramExit {
  std::optional<int> exit_code;  // one of the two is set
  std::optional<int> signal;

  // As a shell tells it: 128 + n for signal n.
  int ShellCode() const { return signal ? 128 + *signal : exit_code.value_or(0); }
};

struct TracingResult {
  BoundarySource boundaries = BoundarySource::kNone;
  int generations = 1;                              // how often the PID was traced anew, by exec
  std::map<std::string, std::uint64_t> drops;       // by reason; only what is not 0
  std::map<std::string, std::uint64_t> stack_ends;  // distinct stacks that are cut, by reason
  // How stacks were told: by proof that a known one is unchanged, or by a walk.
  std::uint64_t stacks_proved = 0;
  std::uint64_t stacks_walked = 0;
  std::uint64_t stacks_unprovable = 0;  // of the walked: never to be told by proof
  std::uint64_t frames_walked = 0;
  std::uint64_t frames_without_rule = 0;  // of those: whose unwind rule was not cached
  Amount mapped;                          // all that was ever mapped, as bytes and calls
};

// What a verdict does to the exit code.
enum class GateMode {
  kGate,
  kStrict,    // what is unconfirmed, and what nothing used, fail as well
  kWarnOnly,  // nothing fails; each run says so
};

// Of the tests that several processes share out, by GTEST_TOTAL_SHARDS.
struct Shard {
  int index = 0;  // from 0
  int total = 1;

  friend bool operator==(const Shard&, const Shard&) = default;
};

struct RunResult {
  std::string binary;
  std::vector<std::string> arguments;
  Verdict verdict = Verdict::kPass;
  GateMode mode = GateMode::kGate;
  std::optional<Shard> shard;
  std::string baseline;               // the report whose findings do not fail; empty: none
  std::vector<std::string> reasons;   // why inconclusive, one line each; empty otherwise
  std::vector<std::string> failures;  // besides the windows': expired entries, a line each
  std::vector<std::string> warnings;  // entries that nothing used, a line each
  int exit_code = 0;                  // the runner's
  ProgramExit program;
  TracingResult tracing;
  std::vector<WindowResult> windows;  // in the order in which they were opened
  std::chrono::nanoseconds begin{};   // by the steady clock, as the windows'
  std::chrono::nanoseconds wall{};
  std::chrono::nanoseconds
      gating{};  // of `wall`: spent judging while the program waited, and after
  std::chrono::nanoseconds confirming{};  // of `wall`: repeating tests
};

}  // namespace leakgate
