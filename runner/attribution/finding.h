// A finding: outstanding blocks of one window that share a call stack, a kind
// and what became of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/allocation_kind.h"
#include "common/unwind_end.h"
#include "runner/reach/reach.h"
#include "runner/region/amount.h"
#include "runner/symbols/frame.h"

namespace leakgate {

// How a finding is counted.
enum class Disposition {
  kOutstanding,    // against the limits
  kFramework,      // not: the framework's own (framework_rule)
  kAllowed,        // not: an allowance covers it
  kOtherThread,    // not: of a thread older than the window, and the budget file says "test"
  kReplaced,       // not: as much of the same call site was freed in the window
  kReleasedLater,  // not: freed before the iteration ended, or by when the budget file says
  kOneTime,        // not: the test alone, repeated, did not leave it again
  kBounded,        // not: the test alone, repeated, left it a few times and then no more
  kSteady,         // yes: the test alone, repeated, left it every time
  kUnconfirmed,    // retained, and no repetition could tell
  kKnown,          // not: an earlier run, the baseline, has as many blocks of it
};

// Whether the baseline of `leakgate run --baseline` has a finding.
enum class BaselineState { kNoBaseline, kKnown, kNew };

struct Finding {
  Amount amount;
  AllocationKind kind = AllocationKind::kMalloc;
  std::vector<Frame> stack;  // innermost first
  UnwindEnd stack_end = UnwindEnd::kOutermost;
  std::optional<std::size_t> user_frame;  // index of the call site in `stack`, if any frame is
                                          // the user's own
  std::string framework_rule;  // the rule that makes it the framework's own; empty: the user's

  Reach reach = Reach::kUnknown;
  std::string holder;  // of a retained block: what leads to it; may be empty
  Disposition disposition = Disposition::kOutstanding;
  std::string explanation;           // of the disposition, one line; may be empty
  std::vector<std::int64_t> series;  // net blocks of each repetition after the first
  std::string component;             // whose code it is, where a budget file says so
  std::string thread;     // of a thread older than the window: its name and origin; else empty
  std::string allowance;  // "FILE:LINE" of the allowance that covers it
  BaselineState baseline = BaselineState::kNoBaseline;
};

// Whether its blocks are mappings.
[[nodiscard]] inline bool IsMapped(const Finding& finding) {
  return finding.kind >= AllocationKind::kMapped;
}
[[nodiscard]] inline bool IsUsers(const Finding& finding) { return finding.framework_rule.empty(); }
[[nodiscard]] inline bool IsLost(Reach reach) {
  return reach == Reach::kLost || reach == Reach::kIndirectlyLost;
}
// Whether a finding counts as outstanding where a limit is literal, whatever became of it.
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

// What counts as outstanding: neither the framework's own, nor what is allowed.
[[nodiscard]] inline Amount CountedIn(const std::vector<Finding>& findings) {
  Amount sum;
  for (const Finding& finding : findings) {
    if (IsUsers(finding) && CountsLiterally(finding)) sum += finding.amount;
  }
  return sum;
}

}  // namespace leakgate
