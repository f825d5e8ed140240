#include "runner/attribution/suggested_pattern.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "runner/attribution/code_owner.h"
#include "runner/attribution/stack_pattern.h"
#include "runner/symbols/name_text.h"

namespace leakgate {
namespace {

// Returns the function's name as a pattern; empty if it is unknown, or would be taken for a file.
std::string FunctionPattern(const Frame& frame) {
  std::string name = QualifiedNameOf(frame.function);
  return NamesFile(name) ? std::string() : name;
}

// Returns whether the name is the one that every lambda outside of functions has.
bool IsOfFileScope(std::string_view name) {
  return name.starts_with('{') || name.starts_with('<') || name.starts_with('\'');
}

bool IsMain(const Frame& frame) { return QualifiedNameOf(frame.function) == "main"; }

// Returns the innermost frame that a pattern may name: the user's or, if there is none, the one
// that called the operator.
std::size_t SuggestedFrame(const Finding& finding) {
  if (finding.user_frame) return *finding.user_frame;
  const auto caller =
      std::find_if(finding.stack.begin(), finding.stack.end(), [](const Frame& frame) {
        return !QualifiedNameOf(frame.function).starts_with("operator new");
      });
  return caller == finding.stack.end() ? 0
                                       : static_cast<std::size_t>(caller - finding.stack.begin());
}

// Returns the frame whose function distinguishes the finding: the suggested one, else the next one
// outwards that is the user's and known, else the next that is known.
std::optional<std::size_t> FindDifferingFrame(const Finding& finding) {
  std::optional<std::size_t> runtimes;
  const std::size_t first = SuggestedFrame(finding);
  for (std::size_t i = first; i < finding.stack.size(); ++i) {
    const std::string name = FunctionPattern(finding.stack[i]);
    if (name.empty() || IsOfFileScope(name)) continue;
    if (i == first || OriginOf(finding.stack[i]) == FrameOrigin::kUser) return i;
    if (!runtimes) runtimes = i;
  }
  return runtimes;
}

// Returns "module:libnet.so" for "/opt/lib/libnet.so".
std::string ModulePattern(const Frame& frame) {
  return "module:" + frame.module.substr(frame.module.rfind('/') + 1);
}

}  // namespace

std::vector<std::string> SuggestPattern(const Finding& finding) {
  const std::optional<std::size_t> telling = FindDifferingFrame(finding);
  if (!telling) return {};
  const std::size_t first = SuggestedFrame(finding);
  std::vector<std::string> pattern;
  if (*telling != first) {
    const Frame& frame = finding.stack[first];
    std::string name = FunctionPattern(frame);
    if (name.empty() && !frame.module.empty()) name = ModulePattern(frame);
    if (!name.empty()) pattern.push_back(std::move(name));
  }
  pattern.push_back(FunctionPattern(finding.stack[*telling]));
  return pattern;
}

bool IsOfEveryTest(const Finding& finding) {
  const std::optional<std::size_t> telling = FindDifferingFrame(finding);
  if (!telling || !finding.user_frame) return true;
  const Frame& frame = finding.stack[*telling];
  return IsMain(frame) || IsOfSystemLibrary(frame) || OriginOf(frame) != FrameOrigin::kUser;
}

}  // namespace leakgate
