// Where the blocks of a finding come from, as reports of all formats show it. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runner/result/run_result.h"

namespace leakgate {

// Returns the user's own frame, else the innermost one; nullptr if there is no stack.
[[nodiscard]] const Frame* CallSiteOf(const Finding& finding);

// Names a frame: its function without template arguments and parameters, else
// "libnet.so+0x1a2b", else "unknown function". Not made printable.
[[nodiscard]] std::string FrameName(const Frame& frame);

struct FilePosition {
  std::string file;  // relative to the root if it lies below it; empty: not known
  int line = 0;      // 0: not known

  friend bool operator==(const FilePosition&, const FilePosition&) = default;
};

// Returns where a person looks first: the user's innermost frame whose file lies below the root, as
// services that show a change need it; where there is none, the call site, or the next frame
// outwards that has a file.
[[nodiscard]] FilePosition PositionOf(const Finding& finding, const std::string& root);

// Returns where the window's test is defined.
[[nodiscard]] FilePosition PositionOf(const WindowResult& window, const std::string& root);

// Returns the user's part of the stack, innermost first: from the call site outwards, without
// GoogleTest, main and the C library's start.
[[nodiscard]] std::vector<const Frame*> UserFrames(const Finding& finding);

// The rules that an issue can break, as code scanning lists them. Pure.

enum class Rule {
  kLost,
  kSteady,
  kOutstanding,  // over a limit on what may be outstanding or retained
  kOverLimit,    // over another limit
  kUnconfirmed,
  kMismatchedFree,
  kDoubleFree,
  kBudgetEntry,  // an override or allowance that expired, or that nothing used
};
inline constexpr int kRuleCount = 8;

[[nodiscard]] std::string_view RuleId(Rule rule);     // "leakgate.lost"
[[nodiscard]] std::string_view RuleTitle(Rule rule);  // "Lost memory"
[[nodiscard]] std::string_view RuleHelp(Rule rule);   // one or two sentences

}  // namespace leakgate
