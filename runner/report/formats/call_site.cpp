#include "runner/report/formats/call_site.h"

#include <array>
#include <cstddef>
#include <utility>

#include "runner/base/path_text.h"
#include "runner/report/finding_text.h"
#include "runner/symbols/name_text.h"

namespace leakgate {
namespace {

struct RuleText {
  std::string_view id;
  std::string_view title;
  std::string_view help;
};

constexpr std::array<RuleText, kRuleCount> kRules = {{
    {"leakgate.lost", "Lost memory",
     "Memory that a test allocated and nothing leads to any more. Free it, or own it by a smart "
     "pointer or container."},
    {"leakgate.steady", "Memory that grows with each repetition",
     "Memory that is still reachable, and of which the test, repeated alone, leaves more each "
     "time. "
     "Free it, bound the cache, or allow it in the component's budget file."},
    {"leakgate.outstanding", "Outstanding memory over budget",
     "Memory that a test allocated and had not freed at its end, more than the budget file of its "
     "component allows."},
    {"leakgate.over_limit", "A limit of the budget is exceeded",
     "A limit on something other than outstanding blocks, such as peak memory, mappings, file "
     "descriptors or threads."},
    {"leakgate.unconfirmed", "Retained memory that could not be told from a leak",
     "Memory that is still reachable, and the test could not be repeated alone to tell whether it "
     "grows. With --strict it fails the run."},
    {"leakgate.mismatched_free", "Memory freed by the wrong function",
     "Memory was freed by another family of functions than allocated it, such as new[] by free()."},
    {"leakgate.double_free", "Memory freed twice", "A block was freed that had been freed before."},
    {"leakgate.budget_entry", "A budget file's entry is out of date",
     "An override or an allowance has expired, or nothing used it. Remove it, or renew it."},
}};

const RuleText& TextOf(Rule rule) { return kRules[static_cast<std::size_t>(rule)]; }

}  // namespace

const Frame* CallSiteOf(const Finding& finding) {
  return finding.stack.empty() ? nullptr : &finding.stack[finding.user_frame.value_or(0)];
}

std::string FrameName(const Frame& frame) {
  if (!frame.function.empty()) return ShortName(frame.function);
  if (frame.module.empty()) return "unknown function";
  return ModuleAndOffset(frame);
}

FilePosition PositionOf(const Finding& finding, const std::string& root) {
  for (const Frame* const frame : UserFrames(finding)) {
    std::string file = RelativePath(frame->file, root);
    if (!file.empty() && !IsAbsolutePath(file)) return {std::move(file), frame->line};
  }
  for (std::size_t i = finding.user_frame.value_or(0); i < finding.stack.size(); ++i) {
    const Frame& frame = finding.stack[i];
    if (!frame.file.empty()) return {RelativePath(frame.file, root), frame.line};
  }
  return {};
}

FilePosition PositionOf(const WindowResult& window, const std::string& root) {
  if (window.source_file.empty()) return {};
  return {RelativePath(window.source_file, root), window.source_line};
}

std::vector<const Frame*> UserFrames(const Finding& finding) {
  std::vector<const Frame*> frames;
  const std::size_t end = FindOuterFrames(finding).begin;
  for (std::size_t i = finding.user_frame.value_or(0); i < end; ++i) {
    frames.push_back(&finding.stack[i]);
  }
  return frames;
}

std::string_view RuleId(Rule rule) { return TextOf(rule).id; }
std::string_view RuleTitle(Rule rule) { return TextOf(rule).title; }
std::string_view RuleHelp(Rule rule) { return TextOf(rule).help; }

}  // namespace leakgate
