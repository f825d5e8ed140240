// Tells whether blocks are lost or retained, and what holds them. It stops the program for a
// moment, looks at what the program can still reach, and lets it go on. Where blocks would be lost,
// it looks once more when the other threads have run: lost is what both looks find to be lost.
//
// The judge of a window calls it for the blocks that are outstanding there. The program is stopped
// by a thread that ends before FindReach returns: whatever goes wrong, the kernel lets the
// program's threads go when that thread ends.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "runner/base/expected.h"
#include "runner/reach/address_range.h"
#include "runner/reach/reach.h"
#include "runner/region/region_reader.h"
#include "runner/symbols/variables.h"

namespace leakgate {

// What earlier looks at a process remember of its files.
class FileWords;
[[nodiscard]] std::shared_ptr<FileWords> NewFileWords();

using BlockFilter = std::function<bool(const LiveBlock& block)>;

// What the program's own operator new keeps for itself (operator_account.h), and so says nothing of
// who still uses a block.
struct IgnoredAccount {
  // The program's own pointers may be in them, too: of a block to which more than `entries` words
  // of them point, one is the program's.
  std::vector<AddressRange> variables;
  std::uint32_t entries = 1;
  static constexpr std::uint64_t kWholeBlock = ~std::uint64_t{0};
  // How many bytes in front of the object the blocks have that operator new hands out, by call
  // stack; kWholeBlock for those that it makes for itself.
  std::unordered_map<std::uint32_t, std::uint64_t> header_bytes;

  [[nodiscard]] bool IsHandedOut(std::uint32_t stack) const {
    const auto known = header_bytes.find(stack);
    return known != header_bytes.end() && known->second != kWholeBlock;
  }
};

struct ReachRequest {
  int pid = 0;
  const RegionReader& region;
  std::span<const LiveBlock> candidates;  // in any order; FindReachOfAll has none
  Variables& variables;                   // names of holders come from here
  // Whether what holds a retained block is to be named, which takes longer than looking. Only one
  // block of each stack gets a holder, because a report shows no more. Null: none.
  BlockFilter names_holder = nullptr;
  // Whether a block was found lost by an earlier look: then it needs no other. Null: none was.
  BlockFilter is_known_lost = nullptr;
  // Whether a block, and what it alone leads to, is ignored as if the code had a leak checker
  // ignore it. Null: none but those of the code's.
  BlockFilter is_ignored = nullptr;
  const IgnoredAccount* ignored = nullptr;  // null: nothing
  FileWords* file_words = nullptr;          // what earlier looks remember; null: nothing
  int asking_tid = 0;  // the thread that waits in the agent for an answer; 0 if there is none
};

enum class LookDepth {
  kQuick,  // If the process has one thread only, blocks that would be lost get the slow look at
           // once.
  kSlow,
};

// With what blocks are lost, by their numbers among others.
using LostWiths = std::unordered_map<std::size_t, std::shared_ptr<const LostWith>>;

// What a look at all live blocks tells. There may be millions, so they are held once, and no holder
// is named.
struct HeapReach {
  std::vector<LiveBlock> blocks;  // by address
  std::vector<Reach> reaches;     // one for each; kUnknown where it was known to be lost
  LostWiths lost_with;            // of those that are indirectly lost
  LookDepth depth = LookDepth::kQuick;
};

// Returns the reach of each candidate, in their order; it is kUnknown for a block that is no longer
// live. Fails, with the reason and a remedy, if the process cannot be stopped; the rest of the
// run can go on.
[[nodiscard]] Expected<std::vector<BlockReach>> FindReach(const ReachRequest& request);

// Returns how the candidates are lost if they all are, and nothing at all leads to them but they
// themselves: that is told without a look at other blocks. Otherwise returns nothing: then only the
// functions around this one tell. Returns nothing on Windows.
[[nodiscard]] Expected<std::optional<std::vector<BlockReach>>> FindAllLost(
    const ReachRequest& request);

// The same for all blocks that are live when the program is stopped. Names no holders.
[[nodiscard]] Expected<HeapReach> FindReachOfAll(const ReachRequest& request);

}  // namespace leakgate
