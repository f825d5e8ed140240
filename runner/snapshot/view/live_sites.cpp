#include "runner/snapshot/view/live_sites.h"

#include <map>
#include <sstream>
#include <utility>

#include "runner/snapshot/view/stack_lookup.h"

namespace leakgate {

LiveSites::LiveSites(Symbolizer symbolizer)
    : symbolizer_(std::move(symbolizer)),
      common_(contents_.nodes),
      frames_(contents_, symbolizer_) {
  contents_.nodes.resize(kStackRootCount);
}

Expected<void> LiveSites::Look(const std::string& snapshot) {
  CommonStacks::Translation stacks(common_);
  for (OfStack& stack : stacks_) stack.before = std::exchange(stack.now, {});

  SnapshotVisitor visitor;
  visitor.facts = [&](SnapshotFacts&& facts) { contents_.facts = std::move(facts); };
  visitor.module = [&](SnapshotModule&& module) {
    contents_.modules.insert_or_assign(module.id, std::move(module));
  };
  visitor.nodes = [&](std::span<const SnapshotNode> nodes) { stacks.Add(nodes); };
  visitor.blocks = [&](std::span<const LiveBlock> blocks) -> Expected<void> {
    stacks_.resize(contents_.nodes.size());
    for (const LiveBlock& block : blocks) {
      stacks_[stacks.Of(block.stack)].now += AmountOf(block.size_bytes, 1);
    }
    return {};
  };
  visitor.closing = [&](SnapshotClosing&& closing) { contents_.closing = closing; };
  std::istringstream in(snapshot);
  const Expected<void> read = ReadSnapshot(in, "the process's memory", visitor);
  if (!read) return read;

  before_ = now_;
  now_ = {.time_ns = contents_.facts.taken_ns,
          .live = AmountOf(contents_.closing.bytes, contents_.closing.blocks),
          .allocated = AllocatedIn(contents_.closing.since_begin),
          .freed = FreedIn(contents_.closing.since_begin)};
  if (std::exchange(has_looked_, true)) return {};
  first_ = before_ = now_;
  for (OfStack& stack : stacks_) stack.first = stack.before = stack.now;
  return {};
}

std::vector<LiveSite> LiveSites::Sites() {
  std::vector<LiveSite> sites;
  std::map<std::uint64_t, std::size_t> known;
  for (std::uint32_t stack = 0; stack < stacks_.size(); ++stack) {
    const OfStack& it = stacks_[stack];
    if (it.now == Amount{} && it.first == Amount{} && it.before == Amount{}) continue;
    const auto [at, is_new] = known.try_emplace(SiteKeyOf(frames_, stack), sites.size());
    if (is_new) {
      const std::optional<FrameId> site = frames_.CallSiteOf(stack);
      sites.push_back({.name = site ? NameOfFrame(frames_.Get(*site)) : NameWithoutFrames(stack),
                       .place = site ? PlaceOfFrame(frames_.Get(*site)) : "",
                       .is_users = frames_.UserFrameOf(stack).has_value()});
    }
    LiveSite& site = sites[at->second];
    site.live += it.now;
    site.grown += it.now - it.first;
    site.recent += it.now - it.before;
  }
  return sites;
}

}  // namespace leakgate
