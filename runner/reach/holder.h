// Who holds a retained block: the way to it from a root. Plain values, and how
// they read. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "runner/reach/reach.h"
#include "runner/region/live_block.h"

namespace leakgate {

// How many blocks of a chain are told; of a longer one, those next to the block.
inline constexpr std::size_t kMostHolderLinks = 4;

struct HolderChain {
  std::string root;                // "g_cache (net/cache.cc:12)", "the stack of thread 7 'worker'"
  std::uint32_t hidden = 0;        // blocks between the root and the first of `links`
  std::vector<LiveBlock> links{};  // towards the block; the last one holds it
};

// What became of one block. `holder` is empty but for a retained one.
struct BlockReach {
  Reach reach = Reach::kUnknown;
  HolderChain holder{};
};

// "net::Pool::Grow (pool.cc:88)": the call site that a stack id stands for; may be empty.
using CallSiteText = std::function<std::string(std::uint32_t stack)>;

// "g_cache (net/cache.cc:12) -> 12 more -> 48 B allocated by net::Pool::Grow (pool.cc:88)"; the
// block itself is left out. Empty for no holder.
[[nodiscard]] std::string HolderText(const HolderChain& holder, const CallSiteText& call_site);

}  // namespace leakgate
