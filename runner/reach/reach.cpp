#include "runner/reach/reach.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "runner/base/time_limit.h"
#include "runner/reach/glibc_chunk.h"

namespace leakgate {
namespace {

constexpr std::uint64_t kBlockWordBytes = sizeof(std::uint64_t);

RootPlace PlaceOfWord(RootPlace first, std::size_t index) {
  if (first.address != 0) first.address += index * kBlockWordBytes;
  return first;
}

std::vector<LiveBlock> WithoutHeaders(std::span<const LiveBlock> blocks,
                                      std::span<const std::uint64_t> header_bytes) {
  if (header_bytes.empty()) return {};
  std::vector<LiveBlock> objects(blocks.begin(), blocks.end());
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const std::uint64_t bytes = std::min(header_bytes[i], objects[i].size_bytes);
    objects[i].address += bytes;
    objects[i].size_bytes -= bytes;
  }
  return objects;
}

}  // namespace

ReachMarker::ReachMarker(std::span<const LiveBlock> blocks, std::vector<std::uint32_t> candidates,
                         ReadWords read, std::span<const std::uint64_t> header_bytes)
    : blocks_(blocks),
      objects_(WithoutHeaders(blocks, header_bytes)),
      candidates_(std::move(candidates)),
      read_(std::move(read)),
      index_(Objects()),
      holders_(blocks.size(), kUnreached),
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

void ReachMarker::MarkBlock(std::uint32_t block, std::uint32_t holder, OddWay way) {
  holders_[block] = holder;
  queue_.push_back(block);
  if (way != OddWay::kNone) odd_ways_[block] = way;
  if (is_candidate_[block]) --unmarked_candidates_;
  if (!is_from_ignored_.empty() && (holder & kRootBit) == 0) {
    is_from_ignored_[block] = is_from_ignored_[holder];
  }
  if (divided_ == nullptr) return;
  for (std::uint32_t chunk = divided_->ChunkOf(block);
       chunk != DividedChunks::kNone && !is_chunk_marked_[chunk];
       chunk = divided_->ChunkAround(chunk)) {
    is_chunk_marked_[chunk] = true;
    for (const std::uint32_t piece : divided_->PiecesOf(chunk)) {
      if (!IsMarked(piece)) MarkBlock(piece, block);
    }
  }
}

void ReachMarker::MarkFromRoot(std::uint32_t block, RootPlace place, OddWay way) {
  roots_.push_back(place);
  MarkBlock(block, kRootBit | static_cast<std::uint32_t>(roots_.size() - 1), way);
}

OddWay ReachMarker::WayTo(std::uint32_t block) const {
  const auto odd = odd_ways_.find(block);
  return odd == odd_ways_.end() ? OddWay::kNone : odd->second;
}

void ReachMarker::AddRoots(Words words, RootPlace place, WordRule rule) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::uint32_t block = index_.Find(words[i]);
    if (block == BlockIndex::kNone || IsMarked(block)) continue;
    if (rule == WordRule::kNoChunkHeaders && IsChunkHeader(block, words[i])) continue;
    MarkFromRoot(block, PlaceOfWord(place, i));
  }
}

void ReachMarker::AddEncodedRoots(Words words, RootPlace place, const PointerCode& code) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] < kSmallAddress) continue;
    const std::uint64_t word = code.Decode(words[i]);
    const std::uint32_t block = index_.Find(word);
    if (block == BlockIndex::kNone || IsMarked(block)) continue;
    if (word < kSmallAddress && word != index_.begin(block)) continue;
    MarkFromRoot(block, PlaceOfWord(place, i), OddWay::kEncoded);
  }
}

template <typename Use>
void ReachMarker::ForEachPointerIn(std::uint32_t block, const ReadWords& read, Use use) const {
  std::uint64_t at = (index_.begin(block) + kBlockWordBytes - 1) & ~(kBlockWordBytes - 1);
  const std::uint64_t end = index_.end(block) & ~(kBlockWordBytes - 1);
  while (at < end) {
    const Words words = read(at, end);
    if (words.empty()) return;
    for (const std::uint64_t word : words) {
      const std::uint32_t target = index_.Find(word);
      if (target != BlockIndex::kNone) use(target);
    }
    at += words.size() * kBlockWordBytes;
  }
}

void ReachMarker::ReadPointers() {
  TimeCheck time;
  pointers_.Reserve(blocks_.size());
  for (std::uint32_t block = 0; block < blocks_.size(); ++block) {
    time.Step();
    pointers_.AddBlock();
    if (IsKnownLost(block)) continue;
    ForEachPointerIn(block, read_in_order_,
                     [&](std::uint32_t target) { pointers_.AddPointer(target); });
  }
}

void ReachMarker::Mark() {
  if (read_in_order_ != nullptr && pointers_.size() == 0) ReadPointers();
  TimeCheck time;
  while (queue_read_ < queue_.size() && unmarked_candidates_ != 0) {
    time.Step();
    const std::uint32_t block = queue_[queue_read_++];
    if (IsIgnored(block)) continue;
    const auto mark = [&](std::uint32_t target) {
      if (!IsMarked(target)) MarkBlock(target, block);
    };
    if (pointers_.size() != 0) {
      for (const std::uint32_t target : pointers_.Of(block)) mark(target);
    } else {
      ForEachPointerIn(block, read_, mark);
    }
  }
}

void ReachMarker::MarkIgnored(RootPlace place) {
  const std::vector<bool> ignored = std::exchange(is_ignored_, {});
  is_from_ignored_ = ignored;
  roots_.push_back(place);
  const std::uint32_t root = kRootBit | static_cast<std::uint32_t>(roots_.size() - 1);
  for (std::uint32_t block = 0; block < ignored.size(); ++block) {
    if (!ignored[block]) continue;
    if (IsMarked(block)) {
      holders_[block] = root;
      odd_ways_.erase(block);
      queue_.push_back(block);
    } else {
      MarkBlock(block, root);
    }
  }
  Mark();
}

// No block begins where the first byte behind another one is not aligned. With glibc, none begins
// there anyway, since a header lies between; but malloc leaves pointers to headers on the stack.
bool ReachMarker::MayBePastTheEnd(std::uint32_t block, RootPlace place) const {
  const std::uint64_t begin = blocks_[block].address;
  const std::uint64_t size = blocks_[block].size_bytes;
  if ((begin + size) % 16 != 0) return true;
  if (place.tid != 0 || begin % 16 != 0) return false;
  const Words header = read_(begin - kBlockWordBytes, begin);
  return !header.empty() && (header.front() & ~std::uint64_t{7}) == ChunkBytes(size);
}

bool ReachMarker::LeadsToUnmarked(Words words) const {
  return std::any_of(words.begin(), words.end(), [&](std::uint64_t word) {
    const std::uint32_t block = index_.Find(word);
    return block != BlockIndex::kNone && !IsMarked(block);
  });
}

void ReachMarker::MarkOddlyFrom(std::uint32_t block, const OddWords& odd, const ReadWords& read) {
  const std::uint64_t end = index_.end(block);
  std::uint64_t at = index_.begin(block) & ~(kBlockWordBytes - 1);
  std::vector<std::uint64_t>& words = odd_words_;  // a copy, as the next words are needed as well
  while (at < end) {
    const Words some = read(at, (end + kBlockWordBytes - 1) & ~(kBlockWordBytes - 1));
    if (some.empty()) return;
    words.assign(some.begin(), some.end());
    at += words.size() * kBlockWordBytes;
    if (at > end) words.back() &= ~std::uint64_t{0} >> (8 * (at - end));
    std::uint64_t next = 0;
    if (at < end) {
      const Words behind = read(at, at + kBlockWordBytes);
      if (!behind.empty()) next = behind.front();
      if (at + kBlockWordBytes > end)
        next &= ~std::uint64_t{0} >> (8 * (at + kBlockWordBytes - end));
    }
    odd.ForEachHit(words, next, [&](std::size_t, const OddHit& hit) {
      if (IsMarked(hit.block) || !MayHoldFrom(hit.way, hit.block)) return;
      if (hit.way == OddWay::kPastTheEnd && !MayBePastTheEnd(hit.block, {})) return;
      MarkBlock(hit.block, block, hit.way);
    });
  }
}

void ReachMarker::MarkOddly(const ForEachRoots& for_each_roots, PointerCode code) {
  std::vector<std::uint32_t> unmarked;
  for (std::uint32_t block = 0; block < blocks_.size(); ++block) {
    if (!IsMarked(block) && !IsKnownLost(block)) unmarked.push_back(block);
  }
  const OddWords odd(Objects(), index_, std::move(unmarked), code);
  const auto add = [&](Words words, std::uint64_t next, RootPlace place, WordRule rule) {
    odd.ForEachHit(words, next, [&](std::size_t i, const OddHit& hit) {
      if (IsMarked(hit.block) || !MayHoldFrom(hit.way, hit.block)) return;
      if (rule == WordRule::kNoChunkHeaders && IsChunkHeader(hit.block, words[i])) return;
      if (hit.way == OddWay::kPastTheEnd && !MayBePastTheEnd(hit.block, place)) return;
      MarkFromRoot(hit.block, PlaceOfWord(place, i), hit.way);
    });
  };
  // A pointer may begin in the last word of one piece and end in the first word of the next.
  RootPlace last_place;
  std::uint64_t last_word = 0;
  for_each_roots([&](const RootWords& root) {
    const auto& [words, place, rule, next] = root;
    if (words.empty()) return;
    const bool follows =
        place.address != 0 && place.address == last_place.address + kBlockWordBytes;
    if (follows) add(Words(&last_word, 1), words.front(), last_place, rule);
    add(words, next, place, rule);
    last_place = PlaceOfWord(place, words.size() - 1);
    last_word = words.back();
  });
  // Mark() appends to the queue what plain pointers lead to, so each marked block comes by here.
  TimeCheck time;
  Mark();
  std::size_t in_order = 0;
  if (pointers_.size() != 0) {
    // What other blocks lead to as well is not from ignored ones.
    const auto ignored =
        std::stable_partition(queue_.begin(), queue_.end(),
                              [this](std::uint32_t block) { return !IsFromIgnored(block); });
    std::sort(queue_.begin(), ignored);
    std::sort(ignored, queue_.end());
    in_order = queue_.size();
  }
  for (std::size_t i = 0; unmarked_candidates_ != 0; ++i) {
    time.Step();
    Mark();
    if (i == queue_.size()) return;
    MarkOddlyFrom(queue_[i], odd, i < in_order ? read_in_order_ : read_);
  }
}

std::uint32_t ReachMarker::LostNumber(std::uint32_t block) const {
  const auto found = std::lower_bound(lost_.begin(), lost_.end(), block);
  if (found == lost_.end() || *found != block) return kNotLost;
  return static_cast<std::uint32_t>(found - lost_.begin());
}

// Stacks are numbered as they are first met, so the number tells what was made first.
void ReachMarker::FindLostWays() {
  TimeCheck time;
  lost_.clear();
  std::set<std::uint32_t> windows;
  for (std::uint32_t block = 0; block < blocks_.size(); ++block) {
    if (IsMarked(block) || IsKnownLost(block)) continue;
    lost_.push_back(block);
    windows.insert(blocks_[block].window);
  }
  // What is lost only now, since a word on the stack led to it, may be of a graph that was lost
  // before. Such graphs are of one window, or owned by what a suite or the program has lost: to
  // read all that any test has lost would take too long.
  for (std::uint32_t block = 0; block < is_known_lost_.size(); ++block) {
    const bool may_lead = windows.contains(blocks_[block].window) || may_lead_[block];
    if (IsKnownLost(block) && may_lead && !IsMarked(block)) lost_.push_back(block);
  }
  std::sort(lost_.begin(), lost_.end());
  LostGraph graph;
  for (const std::uint32_t block : lost_) {
    time.Step();
    graph.AddBlock(blocks_[block].stack);
    ForEachPointerIn(block, read_, [&](std::uint32_t target) {
      const std::uint32_t number = target == block ? kNotLost : LostNumber(target);
      if (number != kNotLost) graph.AddPointer(number);
    });
  }
  lost_ways_ = graph.FindWays();
}

std::vector<Reach> ReachMarker::Conclude() {
  if (unmarked_candidates_ != 0) FindLostWays();
  std::vector<Reach> conclusion;
  conclusion.reserve(candidates_.size());
  for (const std::uint32_t candidate : candidates_) {
    if (IsMarked(candidate)) {
      conclusion.push_back(Reach::kRetained);
      continue;
    }
    const std::uint32_t number = LostNumber(candidate);
    const bool is_by_itself = number == kNotLost || lost_ways_[number].root == number;
    conclusion.push_back(is_by_itself ? Reach::kLost : Reach::kIndirectlyLost);
  }
  return conclusion;
}

std::shared_ptr<const LostWith> ReachMarker::LostWithOf(std::uint32_t block) {
  std::uint32_t number = LostNumber(block);
  if (number == kNotLost || lost_ways_[number].root == number) return nullptr;
  const std::uint32_t root = lost_ways_[number].root;
  std::uint32_t own = number;  // the outermost of the same window
  for (std::uint32_t at = lost_ways_[number].parent; at != root; at = lost_ways_[at].parent) {
    if (blocks_[lost_[at]].window == blocks_[block].window) own = at;
  }
  std::shared_ptr<const LostWith>& known = lost_with_[{blocks_[block].stack, root, own}];
  if (known != nullptr) return known;
  LostWith with{blocks_[lost_[root]]};
  if (own != number) with.of_same_window = blocks_[lost_[own]];
  for (number = lost_ways_[number].parent; number != root; number = lost_ways_[number].parent) {
    if (with.links.size() < kMostHolderLinks) {
      with.links.push_back(blocks_[lost_[number]]);
    } else {
      ++with.hidden;
    }
  }
  std::reverse(with.links.begin(), with.links.end());
  return known = std::make_shared<const LostWith>(std::move(with));
}

BlockChain ReachMarker::ChainTo(std::uint32_t block, std::size_t most_links) const {
  BlockChain chain{.root = {}, .links = {}, .way = WayTo(block)};
  std::uint32_t at = block;
  for (; (holders_[at] & kRootBit) == 0; ++chain.hidden) {
    at = holders_[at];
    if (chain.way == OddWay::kNone) chain.way = WayTo(at);
    chain.outermost = at;
  }
  chain.root = roots_[holders_[at] & ~kRootBit];
  for (at = block; chain.hidden != 0 && chain.links.size() < most_links; --chain.hidden) {
    at = holders_[at];
    chain.links.push_back(at);
  }
  std::reverse(chain.links.begin(), chain.links.end());
  return chain;
}

namespace {

std::string LinkText(const LiveBlock& link, const CallSiteText& call_site) {
  std::string text = fmt::format("{} B", link.size_bytes);
  if (link.stack == kUnseenStack) return text + " that leakgate did not see allocated";
  const std::string site = call_site(link.stack);
  return site.empty() ? text : text + " allocated by " + site;
}

void AddLinks(std::uint32_t hidden, const std::vector<LiveBlock>& links,
              const CallSiteText& call_site, std::string& text) {
  if (hidden != 0) text += fmt::format(" -> ... {} more", hidden);
  for (const LiveBlock& link : links) text += " -> " + LinkText(link, call_site);
}

}  // namespace

std::string HolderText(const HolderChain& holder, const CallSiteText& call_site) {
  std::string text = holder.root;
  AddLinks(holder.hidden, holder.links, call_site, text);
  if (holder.way != OddWay::kNone) text += fmt::format(", {}", TextOf(holder.way));
  return text;
}

std::string LostWithText(const LostWith& with, const CallSiteText& call_site) {
  std::string text = LinkText(with.root, call_site);
  AddLinks(with.hidden, with.links, call_site, text);
  return text;
}

}  // namespace leakgate
