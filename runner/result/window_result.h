// The result of one window: a test, a suite, the program, or a process that a test started. What it
// was measured to do is compared with what its budget permits. All functions are pure.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/region_layout.h"
#include "runner/budget/applied_budget.h"
#include "runner/region/amount.h"
#include "runner/result/finding.h"
#include "runner/result/top_allocators.h"

namespace leakgate {

// kNotGated: the window has no limit. kUnconfirmed: the window retains blocks that may be a leak,
// and its test could not be repeated to find out.
enum class Verdict { kPass, kOverBudget, kInconclusive, kNotGated, kUnconfirmed };

// What a window did to the heap. Blocks of the framework and allowed blocks are not counted.
struct Measured {
  Amount outstanding;
  Amount lost;
  Amount retained;
  Amount growth;
  Amount allocated;
  std::int64_t peak_bytes = 0;
  Amount mapped;                    // its blocks are mappings
  std::optional<Amount> temporary;  // nullopt if no budget asks
  // How many more the process has at the window's end than at its begin; nullopt if no budget asks.
  std::optional<std::int64_t> file_descriptors;
  std::optional<std::int64_t> threads;
};

struct Violation {
  Metric metric{};
  std::int64_t actual = 0;
  AppliedLimit limit;
  std::string component;  // the component whose limit it is; empty if it is leakgate's default
  Amount amount;          // all of the quantity, if it has both bytes and blocks

  friend bool operator==(const Violation&, const Violation&) = default;
};

// Returns each limit that is exceeded, in the order of Measured, bytes before blocks. A measured
// value that equals its limit does not exceed it.
[[nodiscard]] std::vector<Violation> Judge(const Measured& measured, const AppliedBudget& budget);

// Returns true if any limit is set. A window without limits is reported, but not gated.
[[nodiscard]] bool IsGated(const AppliedBudget& budget);

// Returns whether the limit is on the test's activity, whatever it leaves: what it allocates, for
// how long, and how much it has at its peak.
[[nodiscard]] bool IsOfActivity(const Violation& violation);

// A test's result as GoogleTest saw it; kNone for suites and the program.
enum class TestStatus { kNone, kPassed, kFailed, kSkipped, kNotPassed, kCrashed };

inline std::shared_ptr<const AppliedBudget> NoBudget() {
  static const auto kNone = std::make_shared<const AppliedBudget>();
  return kNone;
}

// A block that was freed twice, or by the wrong function.
struct FreeErrorResult {
  std::string text;  // "new[] freed by free()", "freed twice"
  Finding freed_at;  // the stack that freed
  Finding made_at;   // the stack that allocated; empty if not known
  BaselineState baseline = BaselineState::kNoBaseline;

  friend bool operator==(const FreeErrorResult&, const FreeErrorResult&) = default;
};

// The measuring windows of one place in the program's code (leakgate::Window) that had something
// outstanding as they ended.
struct MeasuringWindowResult {
  std::string name;
  std::string file;  // where it was opened; empty if not known
  int line = 0;
  std::int64_t count = 0;       // of windows
  std::int64_t open_count = 0;  // of the windows that ended only with the program
  Amount outstanding;           // of all of them

  friend bool operator==(const MeasuringWindowResult&, const MeasuringWindowResult&) = default;
};

// Whether a test that left descriptors open leaves more of them each time it is repeated. A suite
// is kUnconfirmed if any of its tests may.
enum class DescriptorGrowth { kNone, kUnconfirmed, kGrows };

// What makes a verdict uncertain, or keeps it open (judge/window_verdict.h). Reports have the
// window's reason instead.
struct VerdictDoubts {
  SharedText unjudged;          // why nothing of the window is known; empty if it was judged
  SharedText losses;            // why nobody could tell, as its process ended, what that had lost
  bool has_executed = false;    // its process executed another program, and so had no end
  bool has_not_ended = false;   // the program ended while the test ran, or was killed
  bool may_free_later = false;  // when its budget counts what it leaves has not come yet

  friend bool operator==(const VerdictDoubts&, const VerdictDoubts&) = default;
};

struct WindowResult {
  WindowKind kind = WindowKind::kTest;
  std::string name;       // "Suite.Test", "Suite", or the binary's file name
  SharedText started_by;  // the test that was running when a process was started; may be empty
  int iteration = 1;
  SharedText source_file;  // of the test; empty if not known
  int source_line = 0;     // of the test's definition; 0 if not known
  TestStatus status = TestStatus::kNone;
  Verdict verdict = Verdict::kPass;
  SharedText reason;  // of all but kPass and kOverBudget, one line
  VerdictDoubts doubts;
  bool was_failed_inside = false;  // the verdict was given to the process while it waited
  std::vector<Violation> failed_inside_for{};                // what it was given; empty otherwise
  std::shared_ptr<const AppliedBudget> budget = NoBudget();  // shared by many windows
  Amount outstanding;
  Amount lost;      // of outstanding, as far as it was determined
  Amount retained;  // likewise
  Amount allowed;   // of outstanding: covered by allowances
  Amount known;     // of outstanding: what the baseline has
  Amount framework;
  Amount growth;
  Amount allocated;
  // Of those: freed before their thread allocated again; nullopt if no budget asks.
  std::optional<Amount> temporary;
  std::int64_t peak_live_bytes = 0;      // of the process, while the window was open
  std::int64_t live_bytes_at_begin = 0;  // of the process
  std::int64_t live_bytes_at_end = 0;
  std::chrono::nanoseconds begin{};   // by the steady clock
  std::chrono::nanoseconds end{};     // likewise; the present time for a window that is still open
  std::vector<Violation> violations;  // empty unless over budget
  // For violations of activity limits (IsOfActivity), by quantity.
  std::vector<TopAllocators> made_by;
  bool was_explained_later = false;  // made_by was determined after the process had its verdict
  std::vector<Finding> findings;     // the user's own first, each group by bytes, descending
  // The budgets of other components whose code allocated in the window.
  std::vector<std::shared_ptr<const AppliedBudget>> code_budgets;
  // What the program itself mapped in the window and has not unmapped at its end, and stacks of
  // threads. There is one finding for each call site; its blocks are mappings.
  std::vector<Finding> mappings;
  Amount mapped;                    // of those: what counts
  std::int64_t reserved_bytes = 0;  // mapped with PROT_NONE; not among those
  // How many more the process has at the window's end than at its begin; nullopt if no budget asks,
  // and the descriptors do not grow.
  std::optional<std::int64_t> file_descriptors;
  std::optional<std::int64_t> threads;
  DescriptorGrowth descriptor_growth = DescriptorGrowth::kNone;
  std::vector<std::string> left_behind;  // the same by name: "descriptor 7: /tmp/db"
  std::vector<FreeErrorResult> free_errors;
  SharedText reach_problem;  // why lost blocks could not be found; empty if they could
  std::vector<MeasuringWindowResult> measuring_windows;  // opened in it, most bytes first
  // The most that the baseline had of each metric that was over its limit there.
  std::map<Metric, std::int64_t> baseline_excess;
  std::vector<Violation> known_violations;  // what baseline_excess excuses

  // Windows are equal only if they share their budgets.
  friend bool operator==(const WindowResult&, const WindowResult&) = default;
};

// Returns true of a test that was skipped, and left nothing that counts.
inline bool WasSkipped(const WindowResult& window) {
  return window.kind == WindowKind::kTest && window.status == TestStatus::kSkipped &&
         window.verdict == Verdict::kPass;
}

// Counts the freeing errors that the baseline does not have.
inline std::int64_t CountNewFreeErrors(const WindowResult& window) {
  std::int64_t count = 0;
  for (const FreeErrorResult& error : window.free_errors) {
    if (error.baseline != BaselineState::kKnown) ++count;
  }
  return count;
}

}  // namespace leakgate
