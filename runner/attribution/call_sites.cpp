#include "runner/attribution/call_sites.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "runner/attribution/code_owner.h"
#include "runner/attribution/framework_rules.h"
#include "runner/attribution/wrappers.h"
#include "runner/base/time_limit.h"
#include "runner/region/amount.h"
#include "runner/result/debug_header.h"
#include "runner/symbols/name_text.h"

namespace leakgate {

namespace {

void AppendFrame(const Frame& frame, std::string& text) {
  text.append(frame.function).append(1, '\n').append(frame.file).append(1, ':');
  text.append(std::to_string(frame.line)).append(1, '\n');
  if (frame.function.empty()) {
    text += fmt::format("{}+{:#x}\n", frame.module, frame.module_offset);
  }
}

std::string FrameText(const Frame& frame) {
  std::string text;
  AppendFrame(frame, text);
  return text;
}

// What runs the tests, whose frames are others where leakgate's header repeats a test.
bool IsOfTestRunner(const Frame& frame) {
  const FrameOrigin origin = OriginOf(frame);
  return origin == FrameOrigin::kOtherTestFramework || origin == FrameOrigin::kAgent;
}

std::string StackText(const Finding& finding) {
  constexpr std::size_t kMostOfFrame = 16;  // beside its names
  std::size_t bytes = 1;
  for (const Frame& frame : finding.stack) {
    bytes += frame.function.size() + frame.file.size() + kMostOfFrame;
  }
  std::string text;
  text.reserve(bytes);
  for (const Frame& frame : finding.stack) {
    if (!IsOfTestRunner(frame)) AppendFrame(frame, text);
  }
  return text + std::to_string(static_cast<unsigned>(finding.stack_end));
}

bool IsAgentFrame(const Frame& frame) {
  return OriginOfModule(frame.module) == FrameOrigin::kAgent;
}

bool IsTestBody(const Frame& frame) {
  return QualifiedNameOf(frame.function).ends_with("::TestBody");
}

std::optional<AllocationKind> KindOfOperator(const Frame& frame) {
  const std::string name = QualifiedNameOf(frame.function);
  if (name == "operator new") return AllocationKind::kNew;
  if (name == "operator new[]") return AllocationKind::kNewArray;
  return std::nullopt;
}

// Returns whether the innermost of the callers called operator new[]. Where that jumps to new, it
// leaves no frame.
bool CallsNewArray(std::span<const Frame> callers) {
  const auto caller = std::find_if(callers.begin(), callers.end(),
                                   [](const Frame& frame) { return !frame.inlined; });
  if (caller == callers.end()) return false;
  const std::string& called = caller->called_function;
  return called.starts_with("_Zna") || called.starts_with("??_U");
}

// Returns the kind of what the user called; nullopt if it was no operator. A program's own operator
// new calls malloc, and the runtime's new[] calls such a new. The agent's frames are between them.
// On Windows, where the kind is recorded as malloc's, the C library's function is told as well.
std::optional<AllocationKind> KindSeenByUser(const std::vector<Frame>& stack) {
  const AllocatorCall allocator = FindAllocatorCall(stack);
  std::optional<AllocationKind> outermost = allocator.kind;
  std::span<const Frame> callers = std::span(stack).subspan(allocator.frames);
  for (; !callers.empty(); callers = callers.subspan(1)) {
    const std::optional<AllocationKind> kind = KindOfOperator(callers.front());
    if (!kind && !IsAgentFrame(callers.front())) break;
    if (kind) outermost = kind;
  }
  const bool is_array = outermost == AllocationKind::kNew && CallsNewArray(callers);
  return is_array ? AllocationKind::kNewArray : outermost;
}

// If a test's last call was compiled to a jump, main is the user's first frame. It calls all of
// GoogleTest, so it distinguishes no call sites.
bool HasCallSiteOfItsOwn(const Finding& finding) {
  return finding.user_frame && finding.stack[*finding.user_frame].function != "main";
}

// The function that tells of a pool's block is the pool's: the block is its caller's. A test may do
// without one.
void MarkPoolsFunction(std::vector<Frame>& stack) {
  const auto pools = std::find_if_not(stack.begin(), stack.end(), TellsOfPool);
  if (pools == stack.begin() || pools == stack.end() || IsTestBody(*pools)) return;
  const bool has_caller = std::any_of(pools + 1, stack.end(), [](const Frame& frame) {
    return frame.wrapper == Wrapper::kNo && IsUserFrame(frame) &&
           QualifiedNameOf(frame.function) != "main";
  });
  if (has_caller && pools->wrapper == Wrapper::kNo) pools->wrapper = Wrapper::kKnown;
}

CallSite MakeSite(ResolvedStack resolved) {
  CallSite site;
  site.kind = KindSeenByUser(resolved.frames);
  site.has_debug_header = FindAllocatorCall(resolved.frames).is_debug;
  Finding& finding = site.finding;
  std::erase_if(resolved.frames, IsAgentFrame);
  MarkPoolsFunction(resolved.frames);
  finding.stack = std::move(resolved.frames);
  finding.stack_end = resolved.end;
  finding.user_frame = FindUserFrame(finding.stack);
  finding.framework_rule = MatchFrameworkRule(finding.stack, resolved.end).value_or(std::string());
  if (HasCallSiteOfItsOwn(finding)) site.own_frame = {finding.stack[*finding.user_frame]};
  return site;
}

Amount AmountOf(std::uint64_t size_bytes, const BlockFacts& facts) {
  const std::int64_t blocks = facts.blocks;
  return {static_cast<std::int64_t>(size_bytes) * blocks, blocks};
}

LiveBlock UsersPartOf(LiveBlock block, const CallSite& site) {
  if (!site.has_debug_header || block.size_bytes < kDebugBytes) return block;
  block.address += kDebugHeaderBytes;
  block.size_bytes -= kDebugBytes;
  return block;
}

std::size_t BytesOf(const CallSite& site) {
  std::size_t bytes = sizeof(site) + site.text.get().size();
  for (const Frame& frame : site.finding.stack) {
    bytes += sizeof(frame) + frame.function.size() + frame.file.size() + frame.module.size() +
             frame.called_function.size();
  }
  return bytes;
}

}  // namespace

const CallSite& CallSites::Find(std::uint32_t stack, const StackResolver& resolve, Known& known) {
  constexpr std::size_t kMostBytes = 512UL << 20;
  const auto [entry, is_new] = known.by_stack.try_emplace(stack);
  if (!is_new) return *entry->second;
  CheckTime();
  CallSite site = MakeSite(resolve(stack));
  if (counts_other_frameworks_ && IsOfOtherFramework(site.finding.framework_rule)) {
    site.finding.framework_rule.clear();
  }
  CallSite** shared = nullptr;
  if (known.left_in_window == 0 || bytes_ >= kMostBytes) {
    const std::string kind = std::to_string(site.kind ? static_cast<int>(*site.kind) : -1);
    const std::string key = fold_key_ ? fold_key_(site.finding) : std::string();
    shared = &known.shared[site.finding.framework_rule + "\n" + kind + '\n' + key];
    if (*shared != nullptr) return *(entry->second = *shared);
    site.is_shared = true;
  } else {
    --known.left_in_window;
  }
  site.text = StackText(site.finding);
  bytes_ += BytesOf(site);
  known.sites.push_back(std::move(site));
  if (shared != nullptr) *shared = &known.sites.back();
  return *(entry->second = &known.sites.back());
}

const CallSite& CallSites::Of(std::uint32_t stack) { return Find(stack, resolve_, known_); }

const CallSite& CallSites::BySymbols(std::uint32_t stack) {
  return by_symbols_ == nullptr ? Of(stack) : Find(stack, by_symbols_, known_by_symbols_);
}

LiveBlock CallSites::UsersPart(const LiveBlock& block) {
  return UsersPartOf(block, Of(block.stack));
}

bool CallSites::MayBeUsers(std::uint32_t stack) {
  const auto known = known_.by_stack.find(stack);
  if (known != known_.by_stack.end()) return IsUsers(known->second->finding);
  // With so many stacks, most of the code is known by now: each is resolved only once.
  const bool is_one_of_many = known_by_symbols_.left_in_window == 0;
  return IsUsers(is_one_of_many ? Of(stack).finding : BySymbols(stack).finding);
}

// Those with most bytes, and then most blocks, are resolved first, and so kept.
void CallSites::BeginWindow(const std::vector<LiveBlock>& blocks,
                            const std::vector<BlockFacts>& facts) {
  known_.left_in_window = known_by_symbols_.left_in_window = kMostOfWindow;
  if (blocks.size() <= kMostOfWindow) return;
  std::unordered_map<std::uint32_t, Amount> amounts;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    amounts[blocks[i].stack] += AmountOf(blocks[i].size_bytes, facts[i]);
  }
  if (amounts.size() <= kMostOfWindow) return;
  using Stack = std::pair<std::uint32_t, Amount>;
  std::vector<Stack> largest(amounts.begin(), amounts.end());
  const auto is_larger = [](const Stack& a, const Stack& b) {
    return std::tuple(b.second.bytes, b.second.blocks, a.first) <
           std::tuple(a.second.bytes, a.second.blocks, b.first);
  };
  const auto end = largest.begin() + kMostOfWindow;
  std::nth_element(largest.begin(), end, largest.end(), is_larger);
  std::sort(largest.begin(), end, is_larger);
  for (auto stack = largest.begin(); stack != end; ++stack) (void)MayBeUsers(stack->first);
  for (auto stack = largest.begin(); stack != end; ++stack) {
    if (MayBeUsers(stack->first)) (void)Of(stack->first);
  }
}

std::string CallSiteKey(const Finding& finding) {
  if (!HasCallSiteOfItsOwn(finding)) return StackText(finding);
  return FrameText(finding.stack[*finding.user_frame]);
}

std::string LedFromKey(const Finding& finding) {
  return finding.led_from.empty() ? "" : FrameText(finding.led_from.front());
}

std::string CallStackKey(const Finding& finding) { return StackText(finding); }

std::string SharedPathKey(const Finding& finding) {
  const std::vector<Frame>& stack = finding.stack;
  if (!finding.user_frame) return StackText(finding);
  std::string text;
  for (std::size_t i = 0; i < stack.size(); ++i) {
    if (i > *finding.user_frame) {
      if (IsTestBody(stack[i])) break;
      if (!IsUserFrame(stack[i])) continue;
    }
    text += FrameText(stack[i]);
  }
  return text;
}

namespace {

std::string CallSiteText(const Finding& finding, std::string (*name_of)(std::string_view)) {
  if (finding.stack.empty()) return "an unknown call site";
  const Frame& frame = finding.stack[finding.user_frame.value_or(0)];
  const std::string name = name_of(frame.function);
  if (name.empty()) return fmt::format("{}+{:#x}", frame.module, frame.module_offset);
  if (frame.file.empty()) return name;
  return fmt::format("{} ({}:{})", name, frame.file, frame.line);
}

}  // namespace

std::string DescribeCallSite(const Finding& finding) {
  return CallSiteText(finding, QualifiedNameOf);
}

std::string ReadableCallSite(const Finding& finding) { return CallSiteText(finding, ReadableName); }

namespace {

using Key = std::tuple<std::string_view, AllocationKind, Reach, Disposition, std::string_view,
                       std::string_view, std::string_view>;

const BlockFacts kNothing;

// `led_by` is the call stack of the block that it is lost with, if there is one.
Key KeyOf(const CallSite& site, const LiveBlock& block, const BlockFacts& facts,
          std::string_view led_by) {
  return {site.text,          site.kind.value_or(block.kind), facts.reach, facts.disposition,
          facts.thread.get(), facts.allowance.get(),          led_by};
}

Finding MakeFinding(const CallSite& site, const LiveBlock& block, const BlockFacts& facts) {
  Finding finding = site.finding;
  finding.kind = site.kind.value_or(block.kind);
  finding.reach = facts.reach;
  finding.holder = facts.holder;
  finding.keeper = facts.keeper;
  finding.is_held_by_global = facts.is_held_by_global;
  finding.disposition = facts.disposition;
  finding.explanation = facts.explanation;
  finding.thread = facts.thread;
  finding.allowance = facts.allowance;
  finding.baseline = facts.baseline;
  if (!finding.framework_rule.empty()) finding.disposition = Disposition::kFramework;
  return finding;
}

int RankOf(const Finding& finding) {
  if (finding.disposition == Disposition::kFramework) return 5;
  if (IsPassed(finding)) return 4;
  if (finding.disposition == Disposition::kUnconfirmed) return 3;
  if (finding.reach == Reach::kLost) return 0;
  return finding.reach == Reach::kIndirectlyLost ? 1 : 2;
}

}  // namespace

void SortFindings(std::vector<Finding>& findings) {
  const auto rank = [](const Finding& finding) {
    return std::tuple(RankOf(finding), -finding.amount.bytes, -finding.amount.blocks);
  };
  std::stable_sort(findings.begin(), findings.end(),
                   [&](const Finding& a, const Finding& b) { return rank(a) < rank(b); });
}

void SetLeading(const LeadingBlock& leading, CallSites& sites, Finding& finding) {
  if (leading.address != 0) finding.led_by = sites.Of(leading.stack).text;
  if (!leading.other_windows || !IsLost(finding.reach)) return;
  finding.led_from = sites.Of(*leading.other_windows).own_frame;
}

void FoldFindings(Fold fold, std::vector<Finding>& findings) {
  const auto counts = [&](const Finding& finding) {
    if (!IsUsers(finding) || !CountsLiterally(finding)) return false;
    const bool is_lost = IsLost(finding.reach) || finding.is_lost_each_time;
    return fold == Fold::kLost ? is_lost : !is_lost && finding.disposition == Disposition::kSteady;
  };
  const auto is_led_to = [&](const Finding& finding) {
    return !finding.led_by.empty() && counts(finding);
  };
  if (std::none_of(findings.begin(), findings.end(), is_led_to)) return;
  std::map<std::string, std::size_t> leading;  // by call stack
  for (std::size_t i = 0; i < findings.size(); ++i) {
    // What is lost with a block of another window leads to others of its own.
    const bool is_root = findings[i].reach != Reach::kIndirectlyLost || findings[i].led_by.empty();
    const bool may_lead = is_root && counts(findings[i]);
    if (may_lead) leading.emplace(CallStackKey(findings[i]), i);
  }
  // Returns the finding itself if nothing that counts leads to it, or if it leads to itself.
  const auto find_root = [&](std::size_t from) {
    std::size_t at = from;
    for (std::size_t step = 0; step <= findings.size(); ++step) {
      const auto parent = leading.find(findings[at].led_by);
      const bool is_outermost = findings[at].led_by.empty() || parent == leading.end() ||
                                findings[parent->second].component != findings[from].component;
      if (is_outermost) return at;
      at = parent->second;
    }
    return from;
  };
  std::vector<std::size_t> roots(findings.size());
  for (std::size_t i = 0; i < findings.size(); ++i) {
    roots[i] = is_led_to(findings[i]) ? find_root(i) : i;
  }
  for (std::size_t i = 0; i < findings.size(); ++i) {
    if (roots[i] == i) continue;
    findings[roots[i]].amount += findings[i].amount;
    findings[roots[i]].led_to.push_back(std::move(findings[i]));
  }
  std::size_t next = 0;
  std::erase_if(findings, [&](const Finding&) {
    const std::size_t i = next++;
    return roots[i] != i;
  });
  for (Finding& finding : findings) SortFindings(finding.led_to);
  SortFindings(findings);
}

namespace {

// Says in each finding of a shared call site how many call stacks it has.
class SharedSites {
 public:
  void Add(Finding& finding, std::uint32_t stack) { stacks_.emplace_back(&finding, stack); }

  void Tell() {
    std::sort(stacks_.begin(), stacks_.end());
    stacks_.erase(std::unique(stacks_.begin(), stacks_.end()), stacks_.end());
    for (auto begin = stacks_.begin(); begin != stacks_.end();) {
      Finding& finding = *begin->first;
      const auto end =
          std::find_if(begin, stacks_.end(), [&](const auto& it) { return it.first != &finding; });
      finding.other_stacks = end - begin - 1;
      begin = end;
      if (finding.other_stacks == 0) continue;
      if (!finding.explanation.empty()) finding.explanation += "; ";
      finding.explanation +=
          fmt::format("one of {} that are too many to show one by one, summed here",
                      FormatCount(finding.other_stacks + 1, "call stack"));
    }
  }

 private:
  std::vector<std::pair<Finding*, std::uint32_t>> stacks_;
};

}  // namespace

std::vector<Finding> GroupFindings(const std::vector<LiveBlock>& blocks,
                                   const std::vector<BlockFacts>& facts, CallSites& sites) {
  std::map<Key, Finding> by_key;
  SharedSites shared;
  TimeCheck time;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    time.Step();
    const BlockFacts& known = facts.empty() ? kNothing : facts[i];
    const std::uint32_t stack = blocks[i].stack;
    const CallSite& site = known.passes_unseen ? sites.BySymbols(stack) : sites.Of(stack);
    std::string_view led_by;
    if (known.leading.address != 0) {
      led_by = sites.Of(known.leading.stack).text;
    } else if (known.leading.other_windows) {
      led_by = sites.Of(*known.leading.other_windows).text;
    }
    // What is retained is repeated by its stack, and so is one finding: one block stands for all.
    const auto [entry, is_new] = by_key.try_emplace(
        KeyOf(site, blocks[i], known, IsLost(known.reach) ? led_by : std::string_view()));
    if (is_new) {
      entry->second = MakeFinding(site, blocks[i], known);
      SetLeading(known.leading, sites, entry->second);
    }
    entry->second.amount += AmountOf(UsersPartOf(blocks[i], site).size_bytes, known);
    if (entry->second.contents.empty()) entry->second.contents = known.contents;
    if (site.is_shared) shared.Add(entry->second, stack);
  }
  shared.Tell();
  std::vector<Finding> findings;
  for (auto& [key, finding] : by_key) findings.push_back(std::move(finding));
  SortFindings(findings);
  return findings;
}

}  // namespace leakgate
