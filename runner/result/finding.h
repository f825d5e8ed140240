// A finding: the outstanding blocks of one window that have the same call stack, kind and fate.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/allocation_kind.h"
#include "common/unwind_end.h"
#include "runner/base/shared_text.h"
#include "runner/region/amount.h"
#include "runner/symbols/frame.h"
#include "runner/symbols/shared_stack.h"

namespace leakgate {

// Whether anything in the program still leads to a block.
enum class Reach : std::uint8_t { kUnknown, kLost, kIndirectlyLost, kRetained };

// How a finding is counted. "Counts" means that it counts against the limits.
enum class Disposition : std::uint8_t {
  kOutstanding,    // It counts.
  kFramework,      // It does not count: the framework's own code allocated it (framework_rule).
  kAllowed,        // It does not count: an allowance covers it.
  kOtherThread,    // It does not count: its thread is older than the window, and the budget file
                   // limits only the test's own threads ("test").
  kReplaced,       // It does not count: the window freed as much of the same call stack.
  kReleasedLater,  // It does not count: it was freed before the iteration ended, or before the
                   // moment that the budget file names.
  kOneTime,        // It does not count: the test, repeated alone, left it the first time only.
  kBounded,        // It does not count: the test, repeated alone, stopped leaving more of it.
  kSteady,         // It counts: the test, repeated alone, left more and more of it.
  kUnconfirmed,    // It is retained, and no repetition could show whether it grows.
  kKnown,          // It does not count: the baseline has as many blocks of it.
};

// Whether the baseline of `leakgate run --baseline` has a finding.
enum class BaselineState : std::uint8_t { kNoBaseline, kKnown, kNew };

struct Finding {
  Amount amount;  // of all its blocks, those of `led_to` included
  AllocationKind kind = AllocationKind::kMalloc;
  SharedStack stack;  // innermost first
  UnwindEnd stack_end = UnwindEnd::kOutermost;
  // The index of the call site in `stack`, if any frame is the user's own.
  std::optional<std::size_t> user_frame;
  // The rule that makes it the framework's own; empty if it is the user's.
  SharedText framework_rule;

  Reach reach = Reach::kUnknown;
  // What leads to the retained blocks; of what is indirectly lost, the way from the block that is
  // lost by itself. May be empty.
  SharedText holder;
  // The CallStackKey of a block that holds it and that no test has allocated, if there is one. It
  // is in no report: repetitions use it to find out how such blocks change.
  SharedText keeper;
  // A variable of the program's holds it, and no word that a thread has forgotten. In no report.
  bool is_held_by_global = false;
  bool is_lost_each_time = false;  // repeated, each time it loses what the time before had made
  Disposition disposition = Disposition::kOutstanding;
  SharedText explanation;                  // why it has this disposition, in one line; may be empty
  std::vector<std::int64_t> series;        // net blocks of each repetition after the first
  std::vector<std::int64_t> series_bytes;  // likewise, in bytes
  std::string component;  // the component whose code it is, if a budget file says so
  // The name and origin of its thread if that is older than the window, else empty.
  SharedText thread;
  SharedText allowance;  // "FILE:LINE" of the allowance that covers it
  BaselineState baseline = BaselineState::kNoBaseline;
  // What one of its lost blocks begins with, up to 64 bytes, as pairs of hexadecimal digits. Empty
  // where it was not read, or is not to be shown.
  SharedText contents;
  // The CallStackKey of the finding of which a block leads to its blocks, as nothing else does. It
  // is in no report: FoldFindings uses it.
  SharedText led_by;
  // The call site, one frame, of the block of another window that it is lost with. Where that is
  // told, it is the cause of both. Empty if there is none.
  SharedStack led_from;
  // What only its blocks lead to, so that it is lost with them: largest first, each without any of
  // its own.
  std::vector<Finding> led_to;
  // How many more call stacks its blocks have, if there were too many to show each. `stack` is one
  // of the largest of them. In all reports, the explanation mentions this.
  std::int64_t other_stacks = 0;

  friend bool operator==(const Finding&, const Finding&) = default;
};

[[nodiscard]] inline bool IsMapped(AllocationKind kind) {
  return kind >= AllocationKind::kMapped && kind <= AllocationKind::kThreadStack;
}
// Returns true if its blocks are mappings.
[[nodiscard]] inline bool IsMapped(const Finding& finding) { return IsMapped(finding.kind); }
[[nodiscard]] inline bool IsUsers(const Finding& finding) { return finding.framework_rule.empty(); }
[[nodiscard]] inline bool IsLost(Reach reach) {
  return reach == Reach::kLost || reach == Reach::kIndirectlyLost;
}
// Returns true if the finding counts against a limit on outstanding blocks.
[[nodiscard]] inline bool CountsLiterally(const Finding& finding) {
  switch (finding.disposition) {
    case Disposition::kFramework:
    case Disposition::kAllowed:
    case Disposition::kOtherThread:
    case Disposition::kReleasedLater:
    case Disposition::kKnown:
      return false;
    case Disposition::kOutstanding:
    case Disposition::kReplaced:
    case Disposition::kOneTime:
    case Disposition::kBounded:
    case Disposition::kSteady:
    case Disposition::kUnconfirmed:
      break;
  }
  return true;
}

// Returns true if the finding was left behind, and passes for a specific reason.
[[nodiscard]] inline bool IsPassed(const Finding& finding) {
  switch (finding.disposition) {
    case Disposition::kAllowed:
    case Disposition::kOtherThread:
    case Disposition::kReplaced:
    case Disposition::kReleasedLater:
    case Disposition::kOneTime:
    case Disposition::kBounded:
    case Disposition::kKnown:
      return true;
    case Disposition::kOutstanding:
    case Disposition::kFramework:
    case Disposition::kSteady:
    case Disposition::kUnconfirmed:
      break;
  }
  return false;
}

// Returns whether the finding makes its window fail: it is lost, or grows each time.
[[nodiscard]] inline bool MakesFail(const Finding& finding) {
  if (finding.disposition == Disposition::kSteady) return true;
  return CountsLiterally(finding) && IsUsers(finding) && IsLost(finding.reach);
}

// Returns the sum of what only the finding's own blocks lead to.
[[nodiscard]] inline Amount LedToSum(const Finding& finding) {
  Amount sum;
  for (const Finding& led : finding.led_to) sum += led.amount;
  return sum;
}
// Returns the sum of its own blocks.
[[nodiscard]] inline Amount OwnAmount(const Finding& finding) {
  return finding.amount - LedToSum(finding);
}

// Calls `use` for each of the findings, and for all that they lead to.
template <typename Use>
void ForEachWithLedTo(const std::vector<Finding>& findings, Use use) {
  for (const Finding& finding : findings) {
    use(finding);
    for (const Finding& led : finding.led_to) use(led);
  }
}

// Returns the sum of the user's findings that count against a limit on outstanding blocks.
[[nodiscard]] inline Amount CountedIn(const std::vector<Finding>& findings) {
  Amount sum;
  for (const Finding& finding : findings) {
    if (IsUsers(finding) && CountsLiterally(finding)) sum += finding.amount;
  }
  return sum;
}

}  // namespace leakgate
