// Tells what holds a retained block: the chain of pointers that leads to it from a root. Plain
// values, and their text. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "runner/reach/reach.h"
#include "runner/region/live_block.h"

namespace leakgate {

// A chain tells at most so many blocks: those that are nearest to the retained one.
inline constexpr std::size_t kMostHolderLinks = 4;

struct HolderChain {
  std::string root;                // "g_cache (net/cache.cc:12)", "the stack of thread 7 'worker'"
  std::uint32_t hidden = 0;        // blocks between the root and the first of `links`
  std::vector<LiveBlock> links{};  // from the root to the block; the last one holds the block
};

struct BlockReach {
  Reach reach = Reach::kUnknown;
  HolderChain holder{};  // empty if the block is not retained
};

// Returns the call site that a stack id stands for, such as "net::Pool::Grow (pool.cc:88)"; an
// empty text if it is not known.
using CallSiteText = std::function<std::string(std::uint32_t stack)>;

// Returns "g_cache (net/cache.cc:12) -> ... 12 more -> 48 B allocated by net::Pool::Grow
// (pool.cc:88)", say. The retained block itself is left out. Empty if there is no holder.
[[nodiscard]] std::string HolderText(const HolderChain& holder, const CallSiteText& call_site);

}  // namespace leakgate
