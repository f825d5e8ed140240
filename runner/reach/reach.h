// Which blocks are still reachable, from what, and which are lost. Pure: it is
// given the blocks, the words of the roots and a way to read blocks.
//
//   AddRoots  words that the program can reach by itself, kind by kind
//   Mark      all that the roots given so far reach, breadth first
//   Conclude  what of each candidate became of it
//
// Each marked block knows the block, or the root, that it was first reached
// from: by the shortest way from the kind of roots that was given first.
//
//   g_cache -> [a] -> [b]      a, b retained, b by a
//              [c] -> [d]      c lost, d lost with it: indirectly
//              [e] <-> [f]     a cycle: the first by address counts as lost, the
//                              other as lost with it
//
// One thread. The blocks outlive the marker.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "runner/reach/block_index.h"
#include "runner/region/live_block.h"

namespace leakgate {

enum class Reach : std::uint8_t { kUnknown, kLost, kIndirectlyLost, kRetained };

using Words = std::span<const std::uint64_t>;

// The words from `begin` on and before `end`, as many as are at hand at once;
// none if they cannot be read. Valid until the next call.
using ReadWords = std::function<Words(std::uint64_t begin, std::uint64_t end)>;

// Where a root's word is: at an address, or in a thread's registers.
struct RootPlace {
  std::uint64_t address = 0;  // 0: in a register
  int tid = 0;

  friend bool operator==(const RootPlace&, const RootPlace&) = default;
};

// Which words are no pointers, though they look it.
enum class WordRule {
  kNone,
  // glibc's own bins point at the headers of free chunks, which lie within the
  // last bytes of the block in front.
  kNoChunkHeaders,
};

// From a root to a block, as block numbers. The block itself is left out.
struct BlockChain {
  RootPlace root;
  std::uint32_t hidden = 0;          // blocks between the root and the first of `links`
  std::vector<std::uint32_t> links;  // towards the block; the last one holds it
};

class ReachMarker {
 public:
  // `blocks` by address; `candidates` are numbers of blocks.
  ReachMarker(std::span<const LiveBlock> blocks, std::vector<std::uint32_t> candidates,
              ReadWords read);

  // The first of `words` is at `place`, the others follow it.
  void AddRoots(Words words, RootPlace place, WordRule rule = WordRule::kNone);

  // Returns early once each candidate is marked.
  void Mark();
  [[nodiscard]] bool HasMarkedAllCandidates() const { return unmarked_candidates_ == 0; }

  // In the order of the candidates. REQUIRES: Mark, after the last of the roots.
  [[nodiscard]] std::vector<Reach> Conclude();

  // REQUIRES: `block` was marked.
  [[nodiscard]] BlockChain ChainTo(std::uint32_t block, std::size_t most_links) const;

 private:
  // How a block was reached.
  struct Link {
    std::uint32_t parent = kUnreached;  // a block, itself if a root holds it, or kUnreached
    std::uint32_t root = 0;             // in roots_
    std::uint32_t depth = 0;            // blocks between the root and this one
  };
  static constexpr std::uint32_t kUnreached = 0xFFFF'FFFF;

  void Reached(std::uint32_t block, const Link& link);
  template <typename Use>
  void ForEachPointerIn(std::uint32_t block, Use use) const;
  void FloodLost(std::uint32_t from);
  [[nodiscard]] bool IsChunkHeader(std::uint32_t block, std::uint64_t word) const;

  std::span<const LiveBlock> blocks_;
  std::vector<std::uint32_t> candidates_;
  ReadWords read_;
  BlockIndex index_;
  std::vector<Link> links_;
  std::vector<RootPlace> roots_;
  std::vector<std::uint32_t> queue_;  // marked; read up to queue_read_
  std::size_t queue_read_ = 0;
  std::vector<bool> is_candidate_;
  std::size_t unmarked_candidates_ = 0;
  std::vector<Reach> lost_;  // of each block, once Conclude has run
};

}  // namespace leakgate
