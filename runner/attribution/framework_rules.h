// The memory that GoogleTest, gmock and the C and C++ runtime keep for
// themselves: a shipped, versioned list that `leakgate framework` prints.
// What it matches is counted apart, as `framework`, and fails no test.
//
// A rule must not be able to hide a user's leak. So it names one function
// exactly, never a template that users instantiate, and that function must be
// the one that allocates: nothing of the user's between it and the allocation,
// also not a function that left no frame.
// docs/framework.md tells the rest. Pure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/unwind_end.h"
#include "runner/symbols/frame.h"

namespace leakgate {

// Raised whenever a rule is added, removed or changed.
inline constexpr int kFrameworkRulesVersion = 2;

// What a rule's `function` is compared with.
enum class FrameworkMatch {
  kGoogleTestFunction,  // the innermost frame that is not the C or C++ runtime's
  kCLibraryCall,        // the function that the program called in the C library
  kCLibraryInternal,    // the C library's own innermost function
  kCppRuntimeFunction,  // a function of the C++ runtime's files, with only the runtime within it
  kRuntimeStartUp,      // nothing: the whole stack is the runtime's
};

struct FrameworkRule {
  std::string_view name;  // of the cause: several functions may share it; reports show it
  FrameworkMatch match;
  std::string_view function;  // qualified, no parameters; empty for kRuntimeStartUp
  std::string_view why;       // what is kept, and for whom
};

[[nodiscard]] std::span<const FrameworkRule> FrameworkRules();

// How a rule matches, in words for the printed list.
[[nodiscard]] std::string_view Describe(FrameworkMatch match);

// The name of the rule that makes a block allocated at `stack` (innermost
// first, `end` says why it ends there) the framework's own.
[[nodiscard]] std::optional<std::string> MatchFrameworkRule(const std::vector<Frame>& stack,
                                                            UnwindEnd end);

}  // namespace leakgate
