#include "runner/report/failure_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "runner/attribution/call_sites.h"
#include "runner/region/amount.h"
#include "runner/report/excess.h"
#include "runner/report/finding_text.h"
#include "runner/report/left_behind_text.h"
#include "runner/report/window_text.h"

namespace leakgate {
namespace {

// Returns " (net, net.json:14, owner net-team)", or an empty text where no file has a say.
std::string WhoseBudget(const Excess& excess, const AppliedBudget& budget) {
  std::vector<std::string> parts;
  if (!excess.component.empty()) parts.push_back(excess.component);
  if (!excess.sources.empty()) parts.push_back(SourcesText(excess));
  const bool is_own = excess.component == budget.component;
  if (is_own && !budget.owner.empty()) parts.push_back("owner " + budget.owner);
  return parts.empty() ? "" : fmt::format(" ({})", fmt::join(parts, ", "));
}

std::string AnswerText(const WindowResult& window, Colour colour) {
  std::string text;
  std::string lead = "leakgate: ";
  const std::int64_t count = CountNewFreeErrors(window);
  if (count != 0) {
    text = Paint(lead + FormatCount(count, "freeing error"), Emphasis::kBad, colour) + '\n';
    lead = "  and ";
  }
  for (const Excess& excess : Excesses(window)) {
    text += Paint(Printable(lead + ExcessText(excess)), Emphasis::kBad, colour);
    text += Printable(WhoseBudget(excess, *window.budget)) + '\n';
    for (const std::string& reason : excess.reasons) {
      text += Printable("  budgeted so because: " + reason) + '\n';
    }
    lead = "  and ";
  }
  return text;
}

std::vector<const Finding*> Select(const WindowResult& window, bool (*wanted)(const Finding&)) {
  std::vector<const Finding*> selected;
  for (const Finding& finding : window.findings) {
    if (wanted(finding)) selected.push_back(&finding);
  }
  return selected;
}

bool IsFrameworks(const Finding& finding) { return !IsUsers(finding); }

bool IsShown(const Finding& finding) {
  return finding.disposition == Disposition::kOutstanding ||
         finding.disposition == Disposition::kSteady ||
         finding.disposition == Disposition::kUnconfirmed ||
         finding.disposition == Disposition::kReplaced;
}
bool IsNotShown(const Finding& finding) { return IsUsers(finding) && !IsShown(finding); }

// Returns lines such as "not counted: 72 B in 1 block by ...", of what else is left behind. A
// library may keep hundreds of such from its first use on.
std::string PassedText(const WindowResult& window, const TextStyle& style) {
  constexpr std::size_t kMostTold = 5;
  std::string text;
  const auto add = [&](const std::string& line) {
    const std::string near = WithRelativePaths(line, style.base_directory);
    text += "  " + Paint(Printable(near), Emphasis::kInTheDistance, style.colour) + '\n';
  };
  const std::vector<const Finding*> passed = Select(window, IsNotShown);
  const std::size_t told = passed.size() <= kMostTold + 1 ? passed.size() : kMostTold;
  Amount rest;
  for (std::size_t i = 0; i < passed.size(); ++i) {
    const Finding& finding = *passed[i];
    if (i >= told) {
      rest += finding.amount;
      continue;
    }
    add(fmt::format("not counted: {} by {}: {}", FormatAmount(finding.amount),
                    ReadableCallSite(finding), FateText(finding)));
  }
  if (told < passed.size()) {
    add(fmt::format("not counted: {} by {} more call stacks; the JSON report has each",
                    FormatAmount(rest), passed.size() - told));
  }
  return text;
}

// A suite's window is open around its tests, but what a test leaves is in the test's own.
std::string WhatSuiteHolds(const WindowResult& window) {
  if (window.kind != WindowKind::kSuite) return "";
  return "  this is the suite's own, of its set-up and tear-down; each test has what it left "
         "itself\n";
}

// Returns "  framework: 160 B in 1 block, not counted (gmock registry)".
std::string FrameworkText(const WindowResult& window, Colour colour) {
  if (window.framework == Amount{}) return "";
  std::vector<std::string> rules;
  for (const Finding* finding : Select(window, IsFrameworks)) {
    const std::string& rule = finding->framework_rule;
    if (std::find(rules.begin(), rules.end(), rule) == rules.end()) rules.push_back(rule);
  }
  std::string text = "framework: " + FormatAmount(window.framework) + ", not counted";
  if (!rules.empty()) text += fmt::format(" ({})", fmt::join(rules, ", "));
  return "  " + Paint(Printable(text), Emphasis::kInTheDistance, colour) + '\n';
}

std::string FreeErrorsText(const WindowResult& window, const TextStyle& style) {
  std::string text;
  for (const FreeErrorResult& error : window.free_errors) {
    if (error.baseline == BaselineState::kKnown) continue;
    text += "  " + Paint(Printable(error.text), Emphasis::kHeading, style.colour) + '\n';
    text += StackText(error.freed_at, style);
    if (error.made_at.stack.empty()) continue;
    text += "    allocated at\n" + StackText(error.made_at, style);
  }
  return text;
}

std::string MadeByTexts(const WindowResult& window, const TextStyle& style) {
  const std::size_t shown = window.made_by.size() == 1 ? 3 : 1;
  std::string text;
  for (const TopAllocators& top : window.made_by) {
    if (!top.is_within_limits) text += TopAllocatorsText(top, shown, style);
  }
  return text;
}

std::string OtherEvidence(const WindowResult& window, const TextStyle& style) {
  std::string text;
  for (const std::string& name : window.left_behind) {
    text += "  " + Printable("left behind: " + name) + '\n';
  }
  if (!window.reach_problem.empty()) {
    text += "  " + Printable("what is lost could not be told: " + window.reach_problem) + '\n';
  }
  for (const MeasuringWindowResult& measured : window.measuring_windows) {
    const std::string line = MeasuringWindowLine(measured);
    text += "  " + Printable(WithRelativePaths(line, style.base_directory)) + '\n';
  }
  return text;
}

// Returns the position of the first finding that has a call site in the user's code.
std::optional<SourcePosition> PositionOf(const std::vector<Finding>& findings) {
  for (const Finding& finding : findings) {
    if (!IsUsers(finding) || !finding.user_frame) continue;
    const Frame& frame = finding.stack[*finding.user_frame];
    if (!frame.file.empty()) return SourcePosition{frame.file, frame.line};
  }
  return std::nullopt;
}

std::string Headline(const WindowResult& window, const std::string& failure,
                     const TextStyle& style) {
  const std::optional<SourcePosition> position = FailurePosition(window);
  if (!position) return Printable(failure);
  const std::string file = RelativePath(position->file, style.base_directory);
  if (position->line == 0) return Printable(fmt::format("{}: {}", file, failure));
  return Printable(fmt::format("{}:{}: {}", file, position->line, failure));
}

}  // namespace

std::string_view TopAllocatorsVerb(const TopAllocators& top) {
  if (top.quantity == Quantity::kPeak) return "live at its peak";
  return top.quantity == Quantity::kTemporary ? "allocated for a moment only" : "allocated";
}

std::string TopAllocatorsText(const TopAllocators& top, std::size_t shown, const TextStyle& style) {
  if (!top.problem.empty()) {
    return "  " + Printable(fmt::format("who allocated it is not known: {}", top.problem)) + '\n';
  }
  std::string text = fmt::format("  {} when the test was repeated alone: {}\n",
                                 TopAllocatorsVerb(top), FormatAmount(top.amount));
  Amount other = top.other;
  std::int64_t other_sites = top.other_sites;
  for (std::size_t i = 0; i < top.sites.size(); ++i) {
    const Finding& site = top.sites[i].site;
    if (i >= shown) {
      other += site.amount;
      ++other_sites;
      continue;
    }
    text += "  " + Paint(FormatAmount(site.amount), Emphasis::kHeading, style.colour) + '\n' +
            StackText(site, style);
  }
  if (other_sites != 0) {
    text += fmt::format("  {} by {}\n", FormatAmount(other),
                        FormatCount(other_sites, "more call site"));
  }
  if (top.framework == Amount{}) return text;
  const std::string own = fmt::format("{} by GoogleTest itself", FormatAmount(top.framework));
  return text + "  " + Paint(own, Emphasis::kInTheDistance, style.colour) + '\n';
}

std::optional<SourcePosition> FailurePosition(const WindowResult& window) {
  for (const FreeErrorResult& error : window.free_errors) {
    if (!error.freed_at.user_frame) continue;
    const Frame& frame = error.freed_at.stack[*error.freed_at.user_frame];
    if (!frame.file.empty()) return SourcePosition{frame.file, frame.line};
  }
  const bool is_of_mapped =
      !window.violations.empty() &&
      std::all_of(window.violations.begin(), window.violations.end(),
                  [](const Violation& violation) { return IsOfMappings(violation); });
  const auto position = PositionOf(is_of_mapped ? window.mappings : window.findings);
  if (position) return position;
  for (const Violation& violation : window.violations) {
    const TopAllocators* const top = FindTopAllocators(violation, window);
    if (top == nullptr || top->sites.empty()) continue;
    if (const auto allocator = PositionOf({top->sites.front().site})) return allocator;
  }
  if (window.source_file.empty()) return std::nullopt;
  return SourcePosition{window.source_file, window.source_line};
}

namespace {

// `answer` ends with a newline.
std::string TextWithRemedy(const WindowResult& window, const std::string& answer,
                           const std::string& remedy, const TextStyle& style) {
  // What a test holds that has not come to its end says nothing.
  const bool has_ended = window.status != TestStatus::kCrashed;
  const std::vector<const Finding*> shown =
      has_ended ? Select(window, IsShown) : std::vector<const Finding*>();
  const std::string findings = MadeByTexts(window, style) + FreeErrorsText(window, style) +
                               FirstFindingsText(shown, "more finding", style) +
                               MappedText(window, style) + OtherEvidence(window, style);
  return answer + WhatSuiteHolds(window) + (findings.empty() ? "" : "\n") + findings +
         (has_ended ? PassedText(window, style) : "") + FrameworkText(window, style.colour) + "  " +
         Printable(remedy);
}

// A limit that a file sets is of all that a test has, not of one call site.
bool IsByFile(const Cause& cause) {
  return std::any_of(
      cause.worst.violations.begin(), cause.worst.violations.end(),
      [](const Violation& violation) { return !violation.limit.source.file.empty(); });
}

// Of all tests that fail for it, and which of them is shown.
std::string CauseAnswer(const Cause& cause, Colour colour) {
  const std::string answer = AnswerText(InAllWindows(cause), colour);
  if (cause.count < 2 || cause.worst_amount == Amount{}) return answer;
  if (cause.led_to != Amount{}) {
    return answer + "  " +
           Printable(fmt::format("{} of that could be reached only through what {} allocated:",
                                 FormatAmount(cause.led_to), WindowName(cause.worst))) +
           '\n';
  }
  return answer + "  most of it in " + Printable(WindowName(cause.worst)) + ":\n";
}

}  // namespace

std::string FailureText(const WindowResult& window, const TextStyle& style) {
  return TextWithRemedy(window, AnswerText(window, style.colour), RemedyText(window), style);
}

std::string FailureTextWithHeadline(const WindowResult& window, const TextStyle& style) {
  const std::string headline = Headline(window, "Failure in " + WindowName(window), style);
  return Paint(headline, Emphasis::kHeading, style.colour) + '\n' + FailureText(window, style);
}

std::string CauseTextWithHeadline(const Cause& cause, const TextStyle& style) {
  const std::string failure = fmt::format("Failure in {}: {}", WindowCountText(cause),
                                          FirstNames(cause.first_names, cause.count));
  const bool is_whole = IsByFile(cause) && cause.whole != nullptr;
  WindowResult allowed = is_whole ? *cause.whole : cause.worst;
  allowed.findings.insert(allowed.findings.end(), cause.led_findings.begin(),
                          cause.led_findings.end());
  WindowResult shown = cause.worst;
  if (cause.count > 1) {  // each test has other bytes in its block
    for (Finding& finding : shown.findings) finding.contents.clear();
  }
  return Paint(Headline(cause.worst, failure, style), Emphasis::kHeading, style.colour) + '\n' +
         TextWithRemedy(shown, CauseAnswer(cause, style.colour), RemedyText(allowed), style);
}

std::string SameFailureText(const WindowResult& window, const std::string& first,
                            const TextStyle& style) {
  return AnswerText(window, style.colour) + "  " +
         Printable(fmt::format("for the same as {}, which tells it in full", first));
}

std::string CutInTheMiddle(const std::string& text, std::size_t capacity) {
  if (text.size() <= capacity) return text;
  constexpr std::string_view kCut = "\n  ... cut; all is in the JSON report\n";
  const std::string last_line = text.substr(text.rfind('\n') + 1).substr(0, capacity / 2);
  return text.substr(0, capacity - kCut.size() - last_line.size()).append(kCut) + last_line;
}

}  // namespace leakgate
