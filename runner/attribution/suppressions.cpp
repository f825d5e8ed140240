#include "runner/attribution/suppressions.h"

#include <fmt/format.h>

#include <algorithm>

#include "runner/attribution/call_sites.h"
#include "runner/budget/wording.h"
#include "runner/symbols/name_text.h"

namespace leakgate {
namespace {

constexpr std::string_view kAnyFrames = "...";
// Valgrind's name for what called main. Of this, leakgate's stacks may have less.
constexpr std::string_view kBelowMain = "fun:(below main)";

// What valgrind and LeakSanitizer know of a frame.
struct ForeignFrame {
  std::vector<std::string> functions{};
  std::string module{};
  std::string file{};
  int line = 0;
  bool is_inlined = false;
};
using ForeignStack = std::vector<ForeignFrame>;

// The function that was called to allocate, which is no frame of leakgate's stacks.
ForeignFrame AllocatorOf(AllocationKind kind) {
  ForeignFrame frame{.module = "/usr/libexec/valgrind/vgpreload_memcheck-amd64-linux.so"};
  switch (kind) {
    case AllocationKind::kMalloc:
      frame.functions = {"malloc"};
      break;
    case AllocationKind::kCalloc:
      frame.functions = {"calloc"};
      break;
    case AllocationKind::kRealloc:
      frame.functions = {"realloc", "reallocarray", "malloc"};
      break;
    case AllocationKind::kMemalign:
      frame.functions = {"memalign", "posix_memalign", "aligned_alloc", "valloc", "pvalloc"};
      break;
    case AllocationKind::kNew:
      frame.functions = {"_Znwm", "operator new(unsigned long)", "_ZnwmRKSt9nothrow_t",
                         "_ZnwmSt11align_val_t", "_ZnwmSt11align_val_tRKSt9nothrow_t"};
      break;
    case AllocationKind::kNewArray:
      frame.functions = {"_Znam", "operator new[](unsigned long)", "_ZnamRKSt9nothrow_t",
                         "_ZnamSt11align_val_t", "_ZnamSt11align_val_tRKSt9nothrow_t"};
      break;
    default:
      break;
  }
  return frame;
}

ForeignStack StackOf(const Finding& finding, const Suppressions::SymbolsOf& symbols_of) {
  ForeignStack stack = {AllocatorOf(finding.kind)};
  for (const Frame& frame : finding.stack) {
    ForeignFrame foreign{.module = frame.module,
                         .file = frame.file,
                         .line = frame.line,
                         .is_inlined = frame.inlined};
    if (!frame.function.empty()) {
      foreign.functions = {frame.function, QualifiedNameOf(frame.function)};
    }
    if (!frame.inlined) {
      for (std::string& symbol : symbols_of(frame)) foreign.functions.push_back(std::move(symbol));
    }
    stack.push_back(std::move(foreign));
  }
  return stack;
}

bool MatchesSource(std::string_view pattern, const ForeignFrame& frame) {
  if (frame.file.empty()) return false;
  const std::string_view path = frame.file;
  const std::string_view name = path.substr(path.rfind('/') + 1);  // the whole if there is none
  const std::string line = fmt::format(":{}", frame.line);
  if (pattern.ends_with(line)) pattern.remove_suffix(line.size());
  return MatchesGlob(pattern, path) || MatchesGlob(pattern, name);
}

// Returns whether a line of valgrind's, "fun:malloc", matches the frame.
bool MatchesValgrindFrame(std::string_view line, const ForeignFrame& frame) {
  const std::string_view pattern = line.substr(std::string_view("fun:").size());
  if (line.starts_with("src:")) return MatchesSource(pattern, frame);
  if (line.starts_with("obj:")) {
    return !frame.module.empty() && MatchesGlob(pattern, frame.module);
  }
  const bool is_symbol = pattern.starts_with("_Z") && pattern.find_first_of("*?") == pattern.npos;
  const std::string spelled = is_symbol ? Demangle(std::string(pattern)) : std::string(pattern);
  return std::any_of(frame.functions.begin(), frame.functions.end(), [&](const std::string& it) {
    return it == spelled || MatchesGlob(pattern, it);
  });
}

// Returns whether the frames match the inner end of the stack. As in a glob, "..." takes as few
// frames as it can, and one more whenever what is behind it does not match.
bool MatchesFrames(const std::vector<std::string>& frames, const ForeignStack& stack) {
  std::size_t at = 0;
  std::size_t depth = 0;
  std::size_t behind_any = frames.size() + 1;  // none yet
  std::size_t depth_of_any = 0;
  while (at < frames.size()) {
    if (frames[at] == kAnyFrames || frames[at] == kBelowMain) {
      behind_any = ++at;
      depth_of_any = depth;
    } else if (depth < stack.size() && MatchesValgrindFrame(frames[at], stack[depth])) {
      ++at;
      ++depth;
    } else if (behind_any <= frames.size() && depth_of_any < stack.size()) {
      at = behind_any;
      depth = ++depth_of_any;
    } else {
      return false;
    }
  }
  return true;
}

// Valgrind may have been told not to show inlined functions. Where it begins with operator new,
// leakgate may have recorded the malloc in there.
bool MatchesAsValgrind(const Suppression& suppression, ForeignStack stack) {
  const auto matches = [&] {
    return MatchesFrames(suppression.frames, stack) ||
           MatchesFrames(suppression.frames, {stack.begin() + 1, stack.end()});
  };
  if (matches()) return true;
  std::erase_if(stack, [](const ForeignFrame& it) { return it.is_inlined; });
  return matches();
}

bool MatchesKind(const Suppression& suppression, Reach reach) {
  const auto has = [&](std::string_view kind) { return suppression.kinds.contains(kind); };
  if (suppression.kinds.empty()) return true;
  switch (reach) {
    case Reach::kLost:
      return has("definite") || has("possible");
    case Reach::kIndirectlyLost:
      return has("indirect") || has("possible");
    case Reach::kRetained:
      return has("reachable") || has("possible");
    case Reach::kUnknown:
      break;
  }
  return !has("none");
}

bool MatchesAsLeakSanitizer(const Suppression& suppression, const ForeignStack& stack) {
  const auto matches = [&](const std::string& text) {
    return MatchesLeakPattern(suppression.leak_pattern, text);
  };
  return std::any_of(stack.begin(), stack.end(), [&](const ForeignFrame& frame) {
    return matches(frame.module) || matches(frame.file) ||
           std::any_of(frame.functions.begin(), frame.functions.end(), matches);
  });
}

bool Covers(const Suppression& suppression, const Finding& finding, const ForeignStack& stack) {
  if (!suppression.why_not.empty()) return false;
  if (suppression.frames.empty()) return MatchesAsLeakSanitizer(suppression, stack);
  return MatchesKind(suppression, finding.reach) && MatchesAsValgrind(suppression, stack);
}

}  // namespace

bool MatchesLeakPattern(std::string_view pattern, std::string_view text) {
  if (text.empty()) return false;
  const bool begins = pattern.starts_with('^');
  if (begins) pattern.remove_prefix(1);
  const std::size_t end = pattern.find('$');
  std::string glob = (begins ? "" : "*") + std::string(pattern.substr(0, end));
  if (end == std::string_view::npos) glob += '*';
  return MatchesGlob(glob, text);
}

std::string Suppressions::ReasonFor(const Finding& finding) {
  if (all_.empty()) return "";
  std::string key = fmt::format("{} {} {}", CallStackKey(finding), static_cast<int>(finding.kind),
                                static_cast<int>(finding.reach));
  for (const Frame& frame : finding.stack) key.append(1, '\n').append(frame.module);
  const auto [known, is_new] = reasons_.try_emplace(key);
  if (!is_new) return known->second;
  const ForeignStack stack = StackOf(finding, symbols_of_);
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (!Covers(all_[i], finding, stack)) continue;
    uses_[i] = true;
    if (!known->second.empty()) continue;
    known->second = fmt::format("{} ({})", all_[i].place, all_[i].name);
  }
  return known->second;
}

std::vector<std::string> Suppressions::Unused() const {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (uses_[i]) continue;
    const std::string& why = all_[i].why_not;
    lines.push_back(fmt::format("{} ({}) is not taken over: {}", all_[i].place, all_[i].name,
                                why.empty() ? "it matches nothing that fails" : why));
  }
  return lines;
}

}  // namespace leakgate
