#include "runner/session/window_evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <thread>

#include "runner/reachability/linux/tell_reach.h"
#include "runner/report/quantity_text.h"

namespace leakgate {
namespace {

bool HoldsOtherThreadsBlocks(const RegionReader& region, const std::vector<LiveBlock>& blocks,
                             int asking_tid) {
  std::map<std::uint32_t, bool> may_free;  // by thread
  return std::any_of(blocks.begin(), blocks.end(), [&](const LiveBlock& block) {
    const auto [known, is_new] = may_free.try_emplace(block.thread);
    if (is_new) {
      const ThreadCopy thread = region.Thread(block.thread);
      known->second = thread.tid != asking_tid && !thread.has_ended;
    }
    return known->second;
  });
}

bool IsOpen(const BlockFacts& facts) {
  return facts.disposition == Disposition::kOutstanding ||
         facts.disposition == Disposition::kUnconfirmed;
}

bool IsCandidate(const LiveBlock& block, const BlockFacts& facts, CallSites& sites) {
  return IsOpen(facts) && IsUsers(sites.Of(block.stack).finding);
}

using CountByCallSite = std::map<std::string, std::int64_t>;

CountByCallSite FreedInWindow(const RegionReader& region, std::uint32_t window, CallSites& sites) {
  CountByCallSite freed;
  for (const EarlierFreeCopy& free : region.EarlierFrees()) {
    if (free.window == window) ++freed[CallSiteKey(sites.Of(free.stack).finding)];
  }
  return freed;
}

CountByCallSite LeftBehind(const WindowEvidence& evidence, CallSites& sites) {
  CountByCallSite left;
  for (std::size_t i = 0; i < evidence.blocks.size(); ++i) {
    if (!IsCandidate(evidence.blocks[i], evidence.facts[i], sites)) continue;
    ++left[CallSiteKey(sites.Of(evidence.blocks[i].stack).finding)];
  }
  return left;
}

}  // namespace

Expected<WindowEvidence> GatherEvidence(const RegionReader& region, std::uint32_t window,
                                        int asking_tid) {
  using std::chrono::microseconds;
  constexpr microseconds kLongestPause(51'200);
  auto blocks = region.LiveBlocks(window);
  if (asking_tid != 0) {
    for (microseconds pause(100); blocks && pause <= kLongestPause; pause *= 2) {
      if (!HoldsOtherThreadsBlocks(region, *blocks, asking_tid)) break;
      std::this_thread::sleep_for(pause);
      blocks = region.LiveBlocks(window);
    }
  }
  if (!blocks) return Unexpected(blocks.error());
  WindowEvidence evidence{*std::move(blocks), {}};
  evidence.facts.resize(evidence.blocks.size());
  return evidence;
}

void NameThreads(const RegionReader& region, std::uint32_t window, WindowEvidence& evidence) {
  std::map<std::uint32_t, std::string> names;
  for (std::size_t i = 0; i < evidence.blocks.size(); ++i) {
    const std::uint32_t id = evidence.blocks[i].thread;
    const auto [known, is_new] = names.try_emplace(id);
    if (is_new) {
      const ThreadCopy thread = region.Thread(id);
      const bool is_older = thread.parent != 0 && thread.birth_window < window;
      if (is_older) known->second = fmt::format("thread '{}'", thread.name);
    }
    evidence.facts[i].thread = known->second;
  }
}

std::string TellReach(const RegionReader& region, int pid, CallSites& sites,
                      WindowEvidence& evidence) {
  std::vector<LiveBlock> candidates;
  std::vector<BlockFacts*> facts;
  for (std::size_t i = 0; i < evidence.blocks.size(); ++i) {
    if (!IsCandidate(evidence.blocks[i], evidence.facts[i], sites)) continue;
    candidates.push_back(evidence.blocks[i]);
    facts.push_back(&evidence.facts[i]);
  }
  if (candidates.empty()) return "";
  const auto reaches =
      leakgate::TellReach({.pid = pid, .region = region, .candidates = candidates});
  if (!reaches) return reaches.error().message;
  for (std::size_t i = 0; i < facts.size(); ++i) {
    facts[i]->reach = (*reaches)[i].reach;
    facts[i]->holder = HolderText((*reaches)[i].holder, [&](std::uint32_t stack) {
      return DescribeCallSite(sites.Of(stack).finding);
    });
  }
  return "";
}

void MarkReplaced(const RegionReader& region, std::uint32_t window, CallSites& sites,
                  WindowEvidence& evidence) {
  const CountByCallSite freed = FreedInWindow(region, window, sites);
  if (freed.empty()) return;
  const CountByCallSite left = LeftBehind(evidence, sites);
  for (std::size_t i = 0; i < evidence.blocks.size(); ++i) {
    BlockFacts& facts = evidence.facts[i];
    if (IsLost(facts.reach) || !IsCandidate(evidence.blocks[i], facts, sites)) continue;
    const std::string key = CallSiteKey(sites.Of(evidence.blocks[i].stack).finding);
    const auto replaced = freed.find(key);
    if (replaced == freed.end() || replaced->second < left.at(key)) continue;
    facts.disposition = Disposition::kReplaced;
    facts.explanation =
        fmt::format("{} of this call site freed meanwhile", FormatCount(replaced->second, "block"));
  }
}

void LeaveOpen(WindowEvidence& evidence) {
  for (BlockFacts& facts : evidence.facts) {
    if (facts.disposition == Disposition::kOutstanding && !IsLost(facts.reach)) {
      facts.disposition = Disposition::kUnconfirmed;
    }
  }
}

void MarkReleased(const std::vector<LiveBlock>& live, std::string_view when,
                  WindowEvidence& evidence) {
  for (std::size_t i = 0; i < evidence.blocks.size(); ++i) {
    const LiveBlock& block = evidence.blocks[i];
    const auto found = std::lower_bound(
        live.begin(), live.end(), block,
        [](const LiveBlock& a, const LiveBlock& b) { return a.address < b.address; });
    const bool is_live = found != live.end() && IsSameBlock(*found, block);
    if (is_live || !IsOpen(evidence.facts[i])) continue;
    evidence.facts[i].disposition = Disposition::kReleasedLater;
    evidence.facts[i].explanation = when;
  }
}

bool IsSameBlock(const LiveBlock& a, const LiveBlock& b) {
  return a.address == b.address && a.stack == b.stack && a.window == b.window &&
         a.size_bytes == b.size_bytes;
}

}  // namespace leakgate
