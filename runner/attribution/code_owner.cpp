#include "runner/attribution/code_owner.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "runner/attribution/frame_origin.h"
#include "runner/attribution/stack_pattern.h"

namespace leakgate {
namespace {

using FrameMatcher = bool (*)(std::string_view glob, const NamedFrame& frame);

// Returns the length of the longest of `globs` that matches; 0 if none does.
std::size_t LongestMatch(const std::vector<std::string>& globs, const NamedFrame& frame,
                         FrameMatcher matches) {
  std::size_t longest = 0;
  for (const std::string& glob : globs) {
    if (matches(glob, frame)) longest = std::max(longest, glob.size());
  }
  return longest;
}

// Returns how strongly the code claims a frame; 0 if it does not.
std::size_t ClaimOn(const CodePatterns& code, const NamedFrame& frame) {
  return std::max({LongestMatch(code.paths, frame, MatchesFile),
                   LongestMatch(code.functions, frame, MatchesFunction),
                   LongestMatch(code.modules, frame, MatchesModule)});
}

const BudgetFile* OwnerOfFrame(const std::vector<const BudgetFile*>& files,
                               const NamedFrame& frame) {
  const BudgetFile* owner = nullptr;
  std::size_t strongest = 0;
  for (const BudgetFile* file : files) {
    const std::size_t claim = ClaimOn(file->code, frame);
    if (claim <= strongest) continue;
    strongest = claim;
    owner = file;
  }
  return owner;
}

}  // namespace

bool IsUserFrame(const Frame& frame) { return OriginOf(frame) == FrameOrigin::kUser; }

std::optional<std::size_t> FindUserFrame(const std::vector<Frame>& stack) {
  const auto found = std::find_if(stack.begin(), stack.end(), IsUserFrame);
  if (found == stack.end()) return std::nullopt;
  return static_cast<std::size_t>(found - stack.begin());
}

const BudgetFile* OwnerOf(const std::vector<const BudgetFile*>& files,
                          const std::vector<Frame>& stack) {
  for (const Frame& frame : stack) {
    if (!IsUserFrame(frame)) continue;
    if (const BudgetFile* owner = OwnerOfFrame(files, NamedFrame(frame))) return owner;
  }
  const auto unowned = std::find_if(files.begin(), files.end(), [](const BudgetFile* file) {
    return file->component == kUnowned;
  });
  return unowned == files.end() ? nullptr : *unowned;
}

}  // namespace leakgate
