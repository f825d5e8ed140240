// Rules that recognise the memory which GoogleTest, gmock and the C and C++ runtime keep for
// themselves. The list has a version, and `leakgate framework` prints it. What a rule matches is
// counted apart, as `framework`, and fails no test.
//
// A rule must not hide a user's leak. So it names exactly one function, or a namespace of which the
// user has no function, never a template that users instantiate, and that function must be the one
// that allocates: no code of the user's may run between it and the allocation, not even a function
// that left no frame. docs/framework.md has the details. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/allocation_kind.h"
#include "common/unwind_end.h"
#include "runner/symbols/frame.h"

namespace leakgate {

// Raise it whenever a rule is added, removed or changed.
inline constexpr int kFrameworkRulesVersion = 9;

// The function of a stack with which a rule's `function` is compared.
enum class FrameworkMatch {
  kGoogleTestFunction,  // the innermost frame that is not the C or C++ runtime's
  kNamespace,           // the same, of another test framework: any function in this namespace
  kLibrary,             // likewise, any function in this library
  kCLibraryCall,        // the function that the program called in the C library
  kWindowsCall,         // the same, of a program of Windows, for what is otherwise elsewhere
  kCLibraryInternal,    // the innermost function of the C library that has a name
  kCppRuntimeFunction,  // a function of the C++ runtime, if only the runtime is within it
  kRuntimeStartUp,      // none; the whole stack must be the runtime's
  kLibraryStartUp,      // the library's name; the rest of the stack must be the runtime's
  kInitialiser,         // the outermost function that is not the C library's
};

struct FrameworkRule {
  std::string_view name;  // of the cause; reports show it, and several rules may share it
  FrameworkMatch match;
  // Qualified, without parameters; empty for kRuntimeStartUp, for kLibrary and kLibraryStartUp the
  // name of the library's file before ".so". For kNamespace with "::" at its end.
  std::string_view function;
  std::string_view why;  // what is kept, and what for
  // How the text of the parameters begins, for names that a user's function may have, too. Empty if
  // any parameters match.
  std::string_view parameters{};
};

[[nodiscard]] std::span<const FrameworkRule> FrameworkRules();

// Returns in words how a rule matches, for the printed list.
[[nodiscard]] std::string_view Describe(FrameworkMatch match);

// How a program of Windows came to a block. The agent sees allocations where the C library asks the
// system's heap for them, so the innermost frames are the C library's own.
struct AllocatorCall {
  std::size_t frames = 0;  // that many, of a function that makes a block for its caller; 0: none
  std::optional<AllocationKind> kind;  // nullopt: as recorded
  bool is_debug = false;  // by the debug C runtime, which puts a header before the block
};
[[nodiscard]] AllocatorCall FindAllocatorCall(std::span<const Frame> stack);

// Returns the name of the rule that matches a block allocated at `stack` (innermost frame first;
// `end` says why it ends); nullopt if no rule matches.
[[nodiscard]] std::optional<std::string> MatchFrameworkRule(const std::vector<Frame>& stack,
                                                            UnwindEnd end);

// Returns whether a rule of this name is for another test framework than GoogleTest.
[[nodiscard]] bool IsOfOtherFramework(std::string_view rule);

// Returns whether a listener of the test framework's events made the allocation, which is the
// user's own: what such a listener keeps of each test, for example for a report, is the program's,
// and no test's growth.
[[nodiscard]] bool IsOfEventListener(const std::vector<Frame>& stack);

// Returns whether a fixture's TearDown or destructor made the allocation, as GoogleTest called it.
// Pure.
[[nodiscard]] bool IsOfTearDown(const std::vector<Frame>& stack);

}  // namespace leakgate
