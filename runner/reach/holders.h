// Names what holds blocks. Pure, but for the function that it is given.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "runner/reach/reach.h"

namespace leakgate {

struct NamedRoot {
  std::string name;                     // never empty
  std::optional<FileAddress> global{};  // if it is in a module's data
  bool is_in_queue = false;             // it is a queue of the kernel's
};
using NameRoot = std::function<NamedRoot(const RootPlace& place)>;

// Names the holders of blocks, and each root only once.
class Holders {
 public:
  // `blocks` and `marker` must outlive the object.
  Holders(const std::vector<LiveBlock>& blocks, const ReachMarker& marker, NameRoot name_root)
      : blocks_(blocks), marker_(marker), name_root_(std::move(name_root)) {}

  [[nodiscard]] const LiveBlock& Block(std::uint32_t block) const { return blocks_[block]; }

  // Returns whether this is the first block of its stack for which it is called.
  bool IsFirstOfStack(std::uint32_t block) { return stacks_.insert(blocks_[block].stack).second; }

  HolderChain Of(std::uint32_t block) {
    const BlockChain chain = marker_.ChainTo(block, kMostHolderLinks);
    const auto [root, is_new] =
        roots_.try_emplace({chain.root.address, chain.root.tid, chain.root.kernel_object});
    if (is_new) root->second = name_root_(chain.root);
    HolderChain holder{
        .root = root->second.name, .hidden = chain.hidden, .links = {}, .way = chain.way};
    for (const std::uint32_t link : chain.links) holder.links.push_back(blocks_[link]);
    if (chain.outermost) holder.outermost = blocks_[*chain.outermost];
    holder.is_in_queue = root->second.is_in_queue;
    holder.global = root->second.global;
    return holder;
  }

 private:
  const std::vector<LiveBlock>& blocks_;
  const ReachMarker& marker_;
  NameRoot name_root_;
  std::map<std::tuple<std::uint64_t, int, std::uint32_t>, NamedRoot> roots_;
  std::set<std::uint32_t> stacks_;
};

}  // namespace leakgate
