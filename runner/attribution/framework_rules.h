// Rules that tell the memory which GoogleTest, gmock and the C and C++ runtime keep for themselves.
// The list has a version, and `leakgate framework` prints it. What a rule matches is counted apart,
// as `framework`, and fails no test.
//
// A rule must not hide a user's leak. So it names exactly one function, never a template that users
// instantiate, and that function must be the one that allocates: no code of the user's may run
// between it and the allocation, not even a function that left no frame. docs/framework.md tells
// more. Pure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/unwind_end.h"
#include "runner/symbols/frame.h"

namespace leakgate {

// Raise it whenever a rule is added, removed or changed.
inline constexpr int kFrameworkRulesVersion = 5;

// Tells with which function of a stack a rule's `function` is compared.
enum class FrameworkMatch {
  kGoogleTestFunction,  // the innermost frame that is not the C or C++ runtime's
  kCLibraryCall,        // the function that the program called in the C library
  kCLibraryInternal,    // the innermost function of the C library that has a name
  kCppRuntimeFunction,  // a function of the C++ runtime, if only the runtime is within it
  kRuntimeStartUp,      // with none; all of the stack must be the runtime's
  kLibraryStartUp,      // the library's name; the rest of the stack must be the runtime's
};

struct FrameworkRule {
  std::string_view name;  // of the cause; reports show it, and several rules may share it
  FrameworkMatch match;
  // Qualified, without parameters; empty for kRuntimeStartUp, and for kLibraryStartUp the name of
  // the library's file before ".so".
  std::string_view function;
  std::string_view why;  // what is kept, and for what
  // How the text of the parameters begins, where a name has them: a user's function may have the
  // same name. Empty if any will do.
  std::string_view parameters{};
};

[[nodiscard]] std::span<const FrameworkRule> FrameworkRules();

// Returns in words how a rule matches, for the printed list.
[[nodiscard]] std::string_view Describe(FrameworkMatch match);

// Returns the name of the rule that matches a block allocated at `stack` (innermost frame first;
// `end` tells why it ends); nullopt if no rule does.
[[nodiscard]] std::optional<std::string> MatchFrameworkRule(const std::vector<Frame>& stack,
                                                            UnwindEnd end);

// Returns whether a listener of GoogleTest's events made it, the user's own: what such a listener
// keeps of each test, for a report say, is the program's, and no test's growth.
[[nodiscard]] bool IsOfEventListener(const std::vector<Frame>& stack);

// Returns whether a fixture's TearDown or destructor made it, as GoogleTest called that. Pure.
[[nodiscard]] bool IsOfTearDown(const std::vector<Frame>& stack);

}  // namespace leakgate
