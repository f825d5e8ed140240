// A finding: outstanding blocks of one window that share a call stack and a kind.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/allocation_kind.h"
#include "common/unwind_end.h"
#include "runner/snapshot/amount.h"
#include "runner/symbols/frame.h"

namespace leakgate {

struct Finding {
  Amount amount;
  AllocationKind kind = AllocationKind::kMalloc;
  std::vector<Frame> stack;  // innermost first
  UnwindEnd stack_end = UnwindEnd::kOutermost;
  std::optional<std::size_t> user_frame;  // index of the call site in `stack`, if any frame is
                                          // the user's own
  std::string framework_rule;  // the rule that makes it the framework's own; empty: the user's
};

}  // namespace leakgate
