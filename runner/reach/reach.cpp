#include "runner/reach/reach.h"

#include <fmt/format.h>

#include <algorithm>

namespace leakgate {
namespace {

constexpr std::uint64_t kBlockWordBytes = sizeof(std::uint64_t);

// Returns the size of glibc's chunk for a block of `size` bytes, its header included.
constexpr std::uint64_t ChunkBytes(std::uint64_t size) {
  return std::max<std::uint64_t>(32, (size + 8 + 15) & ~std::uint64_t{15});
}

}  // namespace

ReachMarker::ReachMarker(std::span<const LiveBlock> blocks, std::vector<std::uint32_t> candidates,
                         ReadWords read)
    : blocks_(blocks),
      candidates_(std::move(candidates)),
      read_(std::move(read)),
      index_(blocks),
      links_(blocks.size()),
      is_candidate_(blocks.size()) {
  for (const std::uint32_t candidate : candidates_) {
    if (is_candidate_[candidate]) continue;
    is_candidate_[candidate] = true;
    ++unmarked_candidates_;
  }
}

bool ReachMarker::IsChunkHeader(std::uint32_t block, std::uint64_t word) const {
  const LiveBlock& before = blocks_[block];
  return word != before.address && word == before.address + ChunkBytes(before.size_bytes) - 16;
}

void ReachMarker::MarkBlock(std::uint32_t block, const Link& link) {
  links_[block] = link;
  queue_.push_back(block);
  if (is_candidate_[block]) --unmarked_candidates_;
}

void ReachMarker::AddRoots(Words words, RootPlace place, WordRule rule) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::uint32_t block = index_.Find(words[i]);
    if (block == BlockIndex::kNone || links_[block].parent != kUnreached) continue;
    if (rule == WordRule::kNoChunkHeaders && IsChunkHeader(block, words[i])) continue;
    const std::uint64_t address = place.address == 0 ? 0 : place.address + i * kBlockWordBytes;
    roots_.push_back({address, place.tid});
    MarkBlock(block, {block, static_cast<std::uint32_t>(roots_.size() - 1), 0});
  }
}

template <typename Use>
void ReachMarker::ForEachPointerIn(std::uint32_t block, Use use) const {
  std::uint64_t at = (index_.begin(block) + kBlockWordBytes - 1) & ~(kBlockWordBytes - 1);
  const std::uint64_t end = index_.end(block) & ~(kBlockWordBytes - 1);
  while (at < end) {
    const Words words = read_(at, end);
    if (words.empty()) return;
    for (const std::uint64_t word : words) {
      const std::uint32_t target = index_.Find(word);
      if (target != BlockIndex::kNone) use(target);
    }
    at += words.size() * kBlockWordBytes;
  }
}

void ReachMarker::Mark() {
  while (queue_read_ < queue_.size() && unmarked_candidates_ != 0) {
    const std::uint32_t block = queue_[queue_read_++];
    const Link link{block, links_[block].root, links_[block].depth + 1};
    ForEachPointerIn(block, [&](std::uint32_t target) {
      if (links_[target].parent == kUnreached) MarkBlock(target, link);
    });
  }
}

void ReachMarker::MarkIndirectlyLost(std::uint32_t from) {
  std::vector<std::uint32_t> queue{from};
  while (!queue.empty()) {
    const std::uint32_t block = queue.back();
    queue.pop_back();
    ForEachPointerIn(block, [&](std::uint32_t target) {
      if (target == from || links_[target].parent != kUnreached) return;
      if (lost_[target] == Reach::kUnknown) queue.push_back(target);
      lost_[target] = Reach::kIndirectlyLost;
    });
  }
}

std::vector<Reach> ReachMarker::Conclude() {
  if (unmarked_candidates_ != 0) {
    lost_.assign(blocks_.size(), Reach::kUnknown);
    for (std::uint32_t block = 0; block < blocks_.size(); ++block) {
      if (links_[block].parent != kUnreached || lost_[block] != Reach::kUnknown) continue;
      lost_[block] = Reach::kLost;
      MarkIndirectlyLost(block);
    }
  }
  std::vector<Reach> conclusion;
  conclusion.reserve(candidates_.size());
  for (const std::uint32_t candidate : candidates_) {
    const bool is_retained = links_[candidate].parent != kUnreached;
    conclusion.push_back(is_retained ? Reach::kRetained : lost_[candidate]);
  }
  return conclusion;
}

BlockChain ReachMarker::ChainTo(std::uint32_t block, std::size_t most_links) const {
  const Link& link = links_[block];
  BlockChain chain{.root = roots_[link.root], .hidden = link.depth, .links = {}};
  for (std::uint32_t at = block; chain.hidden != 0 && chain.links.size() < most_links;) {
    at = links_[at].parent;
    chain.links.push_back(at);
    --chain.hidden;
  }
  std::reverse(chain.links.begin(), chain.links.end());
  return chain;
}

std::string HolderText(const HolderChain& holder, const CallSiteText& call_site) {
  std::string text = holder.root;
  if (holder.hidden != 0) text += fmt::format(" -> ... {} more", holder.hidden);
  for (const LiveBlock& link : holder.links) {
    text += fmt::format(" -> {} B", link.size_bytes);
    const std::string site = call_site(link.stack);
    if (!site.empty()) text += fmt::format(" allocated by {}", site);
  }
  return text;
}

}  // namespace leakgate
