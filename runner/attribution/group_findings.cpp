#include "runner/attribution/group_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "runner/attribution/frame_origin.h"
#include "runner/attribution/framework_rules.h"
#include "runner/attribution/function_name.h"
#include "runner/attribution/user_code.h"

namespace leakgate {
namespace {

// A stack as text: what makes two stacks the same to a reader.
std::string Text(const std::vector<Frame>& stack, UnwindEnd end) {
  std::string text;
  for (const Frame& frame : stack) {
    text += fmt::format("{}\n{}:{}\n", frame.function, frame.file, frame.line);
    if (frame.function.empty())
      text += fmt::format("{}+{:#x}\n", frame.module, frame.module_offset);
  }
  return text + std::to_string(static_cast<unsigned>(end));
}

bool IsAgentFrame(const Frame& frame) { return OriginOf(frame) == FrameOrigin::kAgent; }

std::optional<AllocationKind> KindOfOperator(const Frame& frame) {
  const std::string name = QualifiedNameOf(frame.function);
  if (name == "operator new") return AllocationKind::kNew;
  if (name == "operator new[]") return AllocationKind::kNewArray;
  return std::nullopt;
}

// The operator that the user called, where a program's own calls malloc, or the
// runtime's new[] such a new: between them the agent forwards.
std::optional<AllocationKind> OperatorSeenByUser(const std::vector<Frame>& stack) {
  std::optional<AllocationKind> outermost;
  for (const Frame& frame : stack) {
    const std::optional<AllocationKind> kind = KindOfOperator(frame);
    if (!kind && !IsAgentFrame(frame)) break;
    if (kind) outermost = kind;
  }
  return outermost;
}

// What all blocks of one stack id share.
struct Site {
  Finding finding;
  std::optional<AllocationKind> kind;  // if it is not each block's own
  std::string text;
};

Site MakeSite(const ResolvedStack& resolved) {
  Site site;
  site.kind = OperatorSeenByUser(resolved.frames);
  site.finding.stack = resolved.frames;
  site.finding.stack_end = resolved.end;
  std::erase_if(site.finding.stack, IsAgentFrame);
  site.finding.user_frame = FindUserFrame(site.finding.stack);
  site.finding.framework_rule =
      MatchFrameworkRule(site.finding.stack, resolved.end).value_or(std::string());
  site.text = Text(site.finding.stack, resolved.end);
  return site;
}

using TextAndKind = std::pair<std::string, AllocationKind>;
using Entry = std::pair<TextAndKind, Finding>;

bool ComesBefore(const Entry& a, const Entry& b) {
  const auto rank = [](const Finding& finding) {
    return std::tuple(!finding.framework_rule.empty(), -finding.amount.bytes,
                      -finding.amount.blocks);
  };
  const auto rank_a = rank(a.second);
  const auto rank_b = rank(b.second);
  return rank_a != rank_b ? rank_a < rank_b : a.first < b.first;
}

}  // namespace

std::vector<Finding> GroupFindings(const std::vector<LiveBlock>& blocks,
                                   const StackResolver& resolve) {
  std::map<std::uint32_t, Site> sites;
  std::map<TextAndKind, Finding> by_text;
  for (const LiveBlock& block : blocks) {
    auto site = sites.find(block.stack);
    if (site == sites.end()) {
      site = sites.emplace(block.stack, MakeSite(resolve(block.stack))).first;
    }
    const AllocationKind kind = site->second.kind.value_or(block.kind);
    const auto [entry, is_new] = by_text.try_emplace({site->second.text, kind});
    if (is_new) entry->second = site->second.finding;
    entry->second.kind = kind;
    entry->second.amount += Amount{static_cast<std::int64_t>(block.size_bytes), 1};
  }

  std::vector<Entry> entries(by_text.begin(), by_text.end());
  std::sort(entries.begin(), entries.end(), ComesBefore);
  std::vector<Finding> findings;
  for (Entry& entry : entries) findings.push_back(std::move(entry.second));
  return findings;
}

}  // namespace leakgate
