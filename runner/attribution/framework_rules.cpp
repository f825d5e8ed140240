#include "runner/attribution/framework_rules.h"

#include <algorithm>
#include <iterator>

#include "runner/attribution/code_owner.h"
#include "runner/base/path_text.h"
#include "runner/symbols/name_text.h"

namespace leakgate {
namespace {

using Frames = std::span<const Frame>;

// Functions of GoogleTest that make a value for their caller; the caller's rule counts.
constexpr std::array<std::string_view, 7> kPassThrough = {
    "testing::Message::Message",
    "testing::Message::GetString",
    "testing::TestPartResult::TestPartResult",
    "testing::TestProperty::TestProperty",
    "testing::TestProperty::SetValue",
    "testing::internal::TraceInfo::TraceInfo",
    "testing::internal::StringStreamToString",
};

// Returns how many frames at the innermost end are the C library's.
std::size_t CountCLibraryFrames(Frames stack) {
  const auto outside = std::find_if_not(stack.begin(), stack.end(), IsOfCLibrary);
  return static_cast<std::size_t>(outside - stack.begin());
}

Frames WithoutAgent(Frames stack) {
  const auto first = std::find_if_not(stack.begin(), stack.end(), [](const Frame& frame) {
    return OriginOfModule(frame.module) == FrameOrigin::kAgent;
  });
  return stack.subspan(static_cast<std::size_t>(first - stack.begin()));
}

// Returns the index of the frame that has the machine code of the function at `index`.
std::size_t MachineFrame(Frames stack, std::size_t index) {
  while (index + 1 < stack.size() && stack[index].inlined) ++index;
  return index;
}

const FrameworkRule* FindRule(FrameworkMatch match, std::string_view function) {
  const std::span<const FrameworkRule> rules = FrameworkRules();
  const auto rule = std::find_if(rules.begin(), rules.end(), [&](const FrameworkRule& candidate) {
    return candidate.match == match && candidate.function == function;
  });
  return rule != rules.end() ? &*rule : nullptr;
}

bool HasParametersOf(const FrameworkRule& rule, std::string_view function) {
  const std::size_t begin = function.find('(', function.find(rule.function) + rule.function.size());
  return rule.parameters.empty() || begin == std::string_view::npos ||
         function.substr(begin).starts_with(rule.parameters);
}

bool IsPassThrough(std::string_view name) {
  return std::find(kPassThrough.begin(), kPassThrough.end(), name) != kPassThrough.end();
}

// libc++ has its names in a namespace of its version, which the rules leave out.
std::string WithoutVersion(std::string name) {
  constexpr std::string_view kVersion = "std::__1::";
  for (std::size_t at = 0; (at = name.find(kVersion, at)) != std::string::npos;) {
    name.replace(at, kVersion.size(), "std::");
  }
  return name;
}

bool IsOfTheLanguage(std::string_view word) {
  constexpr std::array<std::string_view, 14> kWords = {
      "anonymous", "namespace", "bool", "char",   "const", "double", "false",
      "float",     "int",       "long", "signed", "short", "true",   "unsigned"};
  return word.starts_with("std::") || word.starts_with("__gnu_cxx::") || word.starts_with("::") ||
         word.find_first_not_of("0123456789ul") == std::string_view::npos ||
         std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

// Returns whether all types in a function's qualified name are of the namespace itself or of the
// language: no user has instantiated it.
bool IsWithin(std::string_view scope, std::string_view name) {
  constexpr std::string_view kOfWords =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:~";
  for (std::size_t at = 0; (at = name.find_first_of(kOfWords, at)) != std::string_view::npos;) {
    const std::size_t end = std::min(name.find_first_not_of(kOfWords, at), name.size());
    const std::string_view word = name.substr(at, end - at);
    if (!word.starts_with(scope) && !IsOfTheLanguage(word)) return false;
    at = end;
  }
  return true;
}

const FrameworkRule* FindNamespaceRule(std::string_view name) {
  const std::span<const FrameworkRule> rules = FrameworkRules();
  const auto rule = std::find_if(rules.begin(), rules.end(), [&](const FrameworkRule& candidate) {
    return candidate.match == FrameworkMatch::kNamespace && name.starts_with(candidate.function) &&
           IsWithin(candidate.function, name);
  });
  return rule != rules.end() ? &*rule : nullptr;
}

// Through pointers, Catch2 calls reporters. Where one jumped into a container of Catch2's own
// values, it is a reporter that keeps them, whoever wrote it.
bool HoldsValuesOf(std::string_view scope, const Frame& frame) {
  const std::string name = QualifiedNameOf(frame.function);
  return OriginOf(frame) == FrameOrigin::kCppRuntime && name.find(scope) != std::string::npos &&
         IsWithin(scope, name);
}

const FrameworkRule* MatchOtherFramework(Frames stack, std::size_t index) {
  const Frame& frame = stack[index];
  const bool is_direct = !stack[MachineFrame(stack, index)].calls_through_pointer;
  if (OriginOfModule(frame.module) == FrameOrigin::kOtherTestFramework) {
    return is_direct ? FindRule(FrameworkMatch::kLibrary, LibraryName(frame.module)) : nullptr;
  }
  const FrameworkRule* const rule = FindNamespaceRule(QualifiedNameOf(frame.function));
  if (rule == nullptr || is_direct) return rule;
  return index > 0 && HoldsValuesOf(rule->function, stack[index - 1]) ? rule : nullptr;
}

// The innermost function that is neither the C++ runtime's nor makes a value for its caller
// decides. This function, and all within it, must have called directly: behind a pointer, a
// function of the user's may have run and left no frame, because it jumped into the runtime.
const FrameworkRule* MatchTestFramework(Frames stack) {
  for (std::size_t index = 0; index < stack.size(); ++index) {
    const FrameOrigin origin = OriginOf(stack[index]);
    if (origin == FrameOrigin::kOtherTestFramework) return MatchOtherFramework(stack, index);
    const std::string name = QualifiedNameOf(stack[index].function);
    if (stack[MachineFrame(stack, index)].calls_through_pointer) return nullptr;
    if (origin == FrameOrigin::kCppRuntime || IsPassThrough(name)) continue;
    if (origin != FrameOrigin::kGoogleTest) return nullptr;
    const FrameworkRule* const rule =
        FindRule(FrameworkMatch::kGoogleTestFunction, WithoutVersion(name));
    return rule != nullptr && HasParametersOf(*rule, stack[index].function) ? rule : nullptr;
  }
  return nullptr;
}

// Returns what the program called in the C library. Debian's library is stripped, so the caller's
// call instruction is decisive. If it does not show the function (a call through a pointer, a
// caller that jumped), the outermost exported function is.
std::string CalledInCLibrary(Frames stack, std::size_t c_library_frames) {
  if (c_library_frames < stack.size()) {
    const Frame& caller = stack[MachineFrame(stack, c_library_frames)];
    if (!caller.called_function.empty()) return caller.called_function;
  }
  return stack[c_library_frames - 1].function;
}

// Those that make blocks for their callers, and what kind of blocks these are.
struct WindowsAllocator {
  std::string_view function;
  AllocationKind kind;
};
constexpr WindowsAllocator kWindowsAllocators[] = {
    {"malloc", AllocationKind::kMalloc},
    {"_malloc_base", AllocationKind::kMalloc},
    {"_malloc_dbg", AllocationKind::kMalloc},
    {"calloc", AllocationKind::kCalloc},
    {"_calloc_base", AllocationKind::kCalloc},
    {"_calloc_dbg", AllocationKind::kCalloc},
    {"realloc", AllocationKind::kRealloc},
    {"_realloc_base", AllocationKind::kRealloc},
    {"_realloc_dbg", AllocationKind::kRealloc},
    {"_recalloc", AllocationKind::kRealloc},
    {"_recalloc_base", AllocationKind::kRealloc},
    {"_recalloc_dbg", AllocationKind::kRealloc},
    {"_aligned_malloc", AllocationKind::kMemalign},
    {"_aligned_realloc", AllocationKind::kMemalign},
    {"HeapAlloc", AllocationKind::kHeap},
    {"HeapReAlloc", AllocationKind::kHeap},
    {"LocalAlloc", AllocationKind::kHeap},
    {"GlobalAlloc", AllocationKind::kHeap},
};

// Returns whether a C runtime of Windows', which may be linked in, asked the system for a block.
bool IsOfCRuntime(const Frame& frame) {
  if (OriginOfModule(frame.module) != FrameOrigin::kCLibrary) return IsOfCLibrary(frame);
  const std::string dll = FoldedPath(frame.module.substr(frame.module.rfind('/') + 1));
  return dll.starts_with("msvcr") || dll.starts_with("ucrtbase");
}

Frames WithoutAllocator(Frames stack) { return stack.subspan(FindAllocatorCall(stack).frames); }

// Functions that are not exported have no name where the library is stripped.
std::string_view InnermostName(Frames stack) {
  for (std::size_t index = 0; index < stack.size(); ++index) {
    index = MachineFrame(stack, index);
    if (!stack[index].function.empty()) return stack[index].function;
  }
  return "";
}

const FrameworkRule* MatchCLibrary(Frames stack) {
  const std::size_t c_library_frames = CountCLibraryFrames(stack);
  if (c_library_frames == 0) return nullptr;
  const std::string_view innermost = InnermostName(stack.first(c_library_frames));
  const FrameworkRule* const internal = FindRule(FrameworkMatch::kCLibraryInternal, innermost);
  if (internal != nullptr) return internal;
  const std::string called = CalledInCLibrary(stack, c_library_frames);
  const FrameworkRule* rule = FindRule(FrameworkMatch::kCLibraryCall, called);
  const bool is_windows = IsProgramOfWindows(stack.front().module);
  if (rule == nullptr && is_windows) rule = FindRule(FrameworkMatch::kWindowsCall, called);
  if (rule != nullptr || !called.starts_with("__")) return rule;
  // With debug information, functions of the C library have their internal names: tzset is __tzset.
  return FindRule(FrameworkMatch::kCLibraryCall, std::string_view(called).substr(2));
}

const FrameworkRule* MatchCppRuntime(Frames stack) {
  constexpr std::string_view kScope = "__cxxabiv1::";  // in debug information, but not in symbols
  for (const Frame& frame : stack) {
    if (!IsOfCppRuntime(frame) || frame.calls_through_pointer) return nullptr;
    std::string name = QualifiedNameOf(frame.function);
    if (name.starts_with(kScope)) name.erase(0, kScope.size());
    const FrameworkRule* const rule = FindRule(FrameworkMatch::kCppRuntimeFunction, name);
    if (rule != nullptr) return rule;
  }
  return nullptr;
}

// Returns whether the program or a library of Windows is being started. Each thread begins in the
// loader there, and one of the user's may run a function that only has a name of the C++ library's:
// the user's own function is inlined into it.
bool IsStartingOnWindows(Frames stack) {
  return std::any_of(stack.begin(), stack.end(), [](const Frame& frame) {
    return frame.function.ends_with("CRTStartup") && IsOfCLibrary(frame);
  });
}

// The outermost frame must be the loader's, because the user may have started a thread with a
// function of the C library. At most one other library may be on the stack, which is preparing
// itself: a library that initialises another one is the user's.
const FrameworkRule* MatchStartUp(Frames stack, UnwindEnd end) {
  const bool is_whole = end == UnwindEnd::kOutermost || end == UnwindEnd::kNoUnwindInfo;
  if (!is_whole || stack.empty() || !IsLoader(stack.back().module)) return nullptr;
  std::string_view library;
  for (const Frame& frame : stack) {
    if (IsRuntimeModule(frame.module) || IsOfCLibrary(frame)) continue;
    const bool is_linked_in = IsProgramOfWindows(frame.module) && IsOfCppRuntime(frame);
    if (is_linked_in && IsStartingOnWindows(stack)) continue;
    if (!library.empty() && library != frame.module) return nullptr;
    library = frame.module;
  }
  if (library.empty()) return FindRule(FrameworkMatch::kRuntimeStartUp, "");
  return FindRule(FrameworkMatch::kLibraryStartUp, LibraryName(library));
}

// The outermost function that is not the C library's, or the compiler's around the static
// initialisers of the same module.
const FrameworkRule* MatchInitialiser(Frames stack, UnwindEnd end) {
  const bool is_whole = end == UnwindEnd::kOutermost || end == UnwindEnd::kNoUnwindInfo;
  if (!is_whole) return nullptr;
  std::string_view initialised;
  for (auto frame = stack.rbegin(); frame != stack.rend(); ++frame) {
    if (IsRuntimeModule(frame->module) || IsOfCLibrary(*frame) || frame->function == "_start") {
      continue;
    }
    if (!initialised.empty() && initialised != frame->module) return nullptr;
    const bool is_compilers =
        frame->function.starts_with("_GLOBAL__sub_I") ||
        frame->function.starts_with("__static_initialization_and_destruction_");
    if (!is_compilers) {
      return FindRule(FrameworkMatch::kInitialiser, QualifiedNameOf(frame->function));
    }
    initialised = frame->module;
  }
  return nullptr;
}

// By its library, or linked in.
bool IsOfDebugRuntime(const Frame& frame) {
  return FileNameIn(frame.module) == "ucrtbased.dll" || frame.function.ends_with("_dbg") ||
         frame.function.starts_with("heap_alloc_dbg");
}

}  // namespace

AllocatorCall FindAllocatorCall(std::span<const Frame> stack) {
  if (stack.empty() || !IsProgramOfWindows(stack.front().module)) return {};
  const AllocatorCall none{
      .kind = IsOfCRuntime(stack.front()) ? std::nullopt : std::optional(AllocationKind::kHeap)};
  const std::size_t count = CountCLibraryFrames(stack);
  if (count == 0) return none;
  const std::string called = CalledInCLibrary(stack, count);
  const auto* const found =
      std::find_if(std::begin(kWindowsAllocators), std::end(kWindowsAllocators),
                   [&](const WindowsAllocator& allocator) { return allocator.function == called; });
  if (found == std::end(kWindowsAllocators)) return none;
  // The runtime's own allocator, which it has as well, adds nothing.
  const bool is_debug =
      !called.ends_with("_base") &&
      std::any_of(stack.begin(), stack.begin() + static_cast<std::ptrdiff_t>(count),
                  [](const Frame& frame) { return IsOfDebugRuntime(frame); });
  return {count, found->kind, is_debug};
}

std::optional<std::string> MatchFrameworkRule(const std::vector<Frame>& stack, UnwindEnd end) {
  const Frames frames = WithoutAllocator(WithoutAgent(stack));
  const FrameworkRule* rule = MatchTestFramework(frames);
  if (rule == nullptr) rule = MatchCLibrary(frames);
  if (rule == nullptr) rule = MatchCppRuntime(frames);
  if (rule == nullptr) rule = MatchStartUp(frames, end);
  if (rule == nullptr) rule = MatchInitialiser(frames, end);
  if (rule == nullptr) return std::nullopt;
  return std::string(rule->name);
}

bool IsOfOtherFramework(std::string_view rule) {
  const std::span<const FrameworkRule> rules = FrameworkRules();
  return std::any_of(rules.begin(), rules.end(), [&](const FrameworkRule& known) {
    return known.name == rule &&
           (known.match == FrameworkMatch::kNamespace || known.match == FrameworkMatch::kLibrary);
  });
}

// TestEventRepeater (googletest/src/gtest.cc) calls each listener; Catch2 has other names for it.
bool IsOfEventListener(const std::vector<Frame>& stack) {
  constexpr std::array<std::string_view, 3> kCallers = {
      "testing::internal::TestEventRepeater::On",
      "Catch::ListeningReporter::", "Catch::MultiReporter::"};
  return std::any_of(stack.begin(), stack.end(), [&](const Frame& frame) {
    const FrameOrigin origin = OriginOf(frame);
    if (origin != FrameOrigin::kGoogleTest && origin != FrameOrigin::kOtherTestFramework) {
      return false;
    }
    const std::string name = QualifiedNameOf(frame.function);
    return std::any_of(kCallers.begin(), kCallers.end(),
                       [&](std::string_view caller) { return name.starts_with(caller); });
  });
}

// Test::Run (googletest/src/gtest.cc) calls TearDown, and DeleteSelf_ the destructor.
bool IsOfTearDown(const std::vector<Frame>& stack) {
  const auto caller = std::find_if(stack.begin(), stack.end(), [](const Frame& frame) {
    return OriginOf(frame) == FrameOrigin::kGoogleTest;
  });
  if (caller == stack.begin() || caller == stack.end()) return false;
  const std::string name = QualifiedNameOf(std::prev(caller)->function);
  std::string_view function = name;
  const std::size_t scope = function.rfind("::");
  if (scope == std::string_view::npos) return false;
  function.remove_prefix(scope + 2);
  return function == "TearDown" || function.starts_with("~");
}

}  // namespace leakgate
