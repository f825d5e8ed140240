// Tells which blocks are still reachable, from what, and which blocks are lost. Pure: it is given
// the blocks, the words of the roots and a function that reads blocks.
//
//   AddRoots  adds words that the program can reach by itself, one kind of roots after the other
//   Mark      marks all blocks that the roots so far reach, breadth first
//   MarkOddly marks what odd words lead to as well (odd_words.h): asked for only where candidates
//             would be lost otherwise
//   Conclude  tells of each candidate whether it is lost or retained
//
// Each marked block knows the block or the root from which it was first reached. That is the
// shortest way from the kind of roots that was added first.
//
//   g_cache -> [a] -> [b]      a and b are retained, b by a
//              [c] -> [d]      c is lost, and d indirectly with it (lost_graph.h)
//
// Used by one thread. The blocks must outlive the marker.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "runner/reach/block_index.h"
#include "runner/reach/divided_chunks.h"
#include "runner/reach/lost_graph.h"
#include "runner/reach/odd_words.h"
#include "runner/reach/pointer_graph.h"
#include "runner/region/region_copies.h"
#include "runner/result/finding.h"

namespace leakgate {

using Words = std::span<const std::uint64_t>;

// Returns the words in [begin, end), or only the first of them; none if they cannot be read. They
// are valid until the next call.
using ReadWords = std::function<Words(std::uint64_t begin, std::uint64_t end)>;

// Where the word of a root is.
struct RootPlace {
  std::uint64_t address = 0;  // 0 if it is in a register of thread `tid`, or in the kernel
  int tid = 0;
  std::uint32_t kernel_object = 0;  // the number that the caller has given it; 0: not in the kernel

  friend bool operator==(const RootPlace&, const RootPlace&) = default;
};

// A chain tells at most so many blocks: those that are nearest to its end.
inline constexpr std::size_t kMostHolderLinks = 4;

// Which words do not count, although they look like pointers.
enum class WordRule {
  kNone,
  // Pointers to headers of chunks, of which glibc's bins consist. A header lies in the last bytes
  // of the block in front.
  kNoChunkHeaders,
};

// The way from a root to a block, by numbers of blocks. The block itself is left out.
struct BlockChain {
  RootPlace root;
  std::uint32_t hidden = 0;          // blocks between the root and the first of `links`
  std::vector<std::uint32_t> links;  // from the root to the block; the last one holds the block
  std::optional<std::uint32_t> outermost{};  // the block that the root holds, if it is another one
  OddWay way = OddWay::kNone;                // of the last pointer of the way that is odd
};

// With which other block one is lost, and by which way. Of blocks of one call stack that are lost
// with the same blocks, one stands for all.
struct LostWith {
  LiveBlock root;  // lost by itself
  // The outermost block between the two that is of the window of the one that is lost.
  std::optional<LiveBlock> of_same_window{};
  std::vector<LiveBlock> links{};  // from the root to the block: those between that are nearest
  std::uint32_t hidden = 0;        // blocks between the root and the first of `links`
};

// Words of roots. The first of them is at `place`.
struct RootWords {
  Words words;
  RootPlace place;
  WordRule rule = WordRule::kNone;
  std::uint64_t next = 0;  // the word behind the last one, if it comes by no more
};

// Calls the function that it is given for words of roots, by address.
using UseRoots = std::function<void(const RootWords&)>;
using ForEachRoots = std::function<void(const UseRoots&)>;

class ReachMarker {
 public:
  // `candidates` are numbers of blocks. `header_bytes` tells of each block how much of its begin is
  // its allocator's: it holds nothing, and pointers to it do not hold the block. Empty if no block
  // has any. REQUIRES: `blocks` are sorted by address.
  ReachMarker(std::span<const LiveBlock> blocks, std::vector<std::uint32_t> candidates,
              ReadWords read, std::span<const std::uint64_t> header_bytes = {});

  // From now on, Mark reads all blocks once, by address, with `read`, and follows what it keeps of
  // their pointers: for where most blocks are candidates, and there are kManyBlocks. Call it before
  // Mark.
  static constexpr std::size_t kManyBlocks = 65'536;
  void ReadInOrder(ReadWords read) { read_in_order_ = std::move(read); }

  // Says which blocks, by their numbers, are known to be lost. No mark comes from them, so they are
  // read only to tell what is lost with them. REQUIRES: none of them is a candidate.
  // What is found lost may be lost with those that are in `may_lead`.
  void LeaveOut(std::vector<bool> known_lost, std::vector<bool> may_lead) {
    is_known_lost_ = std::move(known_lost);
    may_lead_ = std::move(may_lead);
  }

  // Says which blocks, by their numbers, the code has leak checkers ignore. Mark does not read
  // them, whatever leads to them.
  void Ignore(std::vector<bool> ignored) { is_ignored_ = std::move(ignored); }
  // Marks all of those, and what they lead to and no root so far has, as from a root at `place`.
  // REQUIRES: Mark() has been called.
  void MarkIgnored(RootPlace place);
  // Returns whether the block was marked so.
  [[nodiscard]] bool IsFromIgnored(std::uint32_t block) const {
    return !is_from_ignored_.empty() && is_from_ignored_[block];
  }

  // Says which of the blocks are pieces of chunks. Call it before any root is added. REQUIRES:
  // `divided` outlives the marker.
  void Divide(const DividedChunks& divided) {
    if (divided.size() == 0) return;
    divided_ = &divided;
    is_chunk_marked_.resize(divided.size());
  }

  // Returns the number of the block that `word` points into; BlockIndex::kNone if it does to none.
  [[nodiscard]] std::uint32_t BlockOf(std::uint64_t word) const { return index_.Find(word); }

  // The first of `words` is at `place`, and the others follow it in memory.
  void AddRoots(Words words, RootPlace place, WordRule rule = WordRule::kNone);

  // The same for words in which pointers are encoded. Small numbers are none.
  void AddEncodedRoots(Words words, RootPlace place, const PointerCode& code);

  // Returns early when all candidates are marked.
  void Mark();
  [[nodiscard]] bool HasMarkedAllCandidates() const { return unmarked_candidates_ == 0; }
  [[nodiscard]] bool HasMarkedAny() const { return !queue_.empty(); }
  [[nodiscard]] bool IsMarked(std::uint32_t block) const { return holders_[block] != kUnreached; }
  // Returns whether one of the words points into a block that is not marked.
  [[nodiscard]] bool LeadsToUnmarked(Words words) const;

  // Marks the blocks to which odd words of the roots and of marked blocks lead, and what these
  // reach. Reads each word once. REQUIRES: Mark() has been called for the same roots.
  void MarkOddly(const ForEachRoots& for_each_roots, PointerCode code = {});

  // Returns the reach of each candidate, in their order. REQUIRES: Mark() has been called since
  // the last roots were added.
  [[nodiscard]] std::vector<Reach> Conclude();

  // Returns with what `block` is lost; null if it is lost by itself, or not at all. REQUIRES:
  // Conclude() has been called.
  [[nodiscard]] std::shared_ptr<const LostWith> LostWithOf(std::uint32_t block);

  // Leaves out all but the last `most_links` blocks. REQUIRES: `block` is marked.
  [[nodiscard]] BlockChain ChainTo(std::uint32_t block, std::size_t most_links) const;

 private:
  static constexpr std::uint32_t kUnreached = 0xFFFF'FFFF;
  static constexpr std::uint32_t kRootBit = 0x8000'0000;
  static constexpr std::uint32_t kNotLost = 0xFFFF'FFFF;

  [[nodiscard]] bool IsKnownLost(std::uint32_t block) const {
    return !is_known_lost_.empty() && is_known_lost_[block];
  }
  [[nodiscard]] bool IsIgnored(std::uint32_t block) const {
    return !is_ignored_.empty() && is_ignored_[block];
  }
  // `holder` is as in holders_; `way` is that of the word that leads to the block.
  void MarkBlock(std::uint32_t block, std::uint32_t holder, OddWay way = OddWay::kNone);
  void MarkFromRoot(std::uint32_t block, RootPlace place, OddWay way = OddWay::kNone);
  [[nodiscard]] OddWay WayTo(std::uint32_t block) const;
  void ReadPointers();
  void MarkOddlyFrom(std::uint32_t block, const OddWords& odd, const ReadWords& read);
  // Returns whether a pointer one past the end of `block` may be the program's, not its
  // allocator's.
  [[nodiscard]] bool MayBePastTheEnd(std::uint32_t block, RootPlace place) const;
  // Counts only whole, aligned words.
  template <typename Use>
  void ForEachPointerIn(std::uint32_t block, const ReadWords& read, Use use) const;
  void FindLostWays();
  // Returns its place in lost_; kNotLost if it has none.
  [[nodiscard]] std::uint32_t LostNumber(std::uint32_t block) const;
  [[nodiscard]] bool IsChunkHeader(std::uint32_t block, std::uint64_t word) const;

  // Returns whether such a word may be the program's pointer to the block. In front of an object is
  // its allocator's header; and what is next to a pool's block is the pool's, which has pointers to
  // its own headers, and to where the next block will be.
  [[nodiscard]] bool MayHoldFrom(OddWay way, std::uint32_t block) const {
    if (blocks_[block].pool != 0) {
      return way != OddWay::kBeforeBegin && way != OddWay::kPastTheEnd;
    }
    return way != OddWay::kBeforeBegin || objects_.empty() ||
           objects_[block].address == blocks_[block].address;
  }

  [[nodiscard]] std::span<const LiveBlock> Objects() const {
    return objects_.empty() ? blocks_ : std::span<const LiveBlock>(objects_);
  }

  std::span<const LiveBlock> blocks_;
  std::vector<LiveBlock> objects_;  // the blocks without their headers; empty if none has any
  std::vector<std::uint32_t> candidates_;
  ReadWords read_;
  ReadWords read_in_order_ = nullptr;
  PointerGraph pointers_;  // of all blocks but those that are known to be lost; empty until read
  BlockIndex index_;       // of Objects()
  // By block: the block from which it was first reached, or the number of the root, with kRootBit.
  std::vector<std::uint32_t> holders_;
  std::unordered_map<std::uint32_t, OddWay> odd_ways_;  // by block, where a word is odd
  std::vector<RootPlace> roots_;
  std::vector<std::uint32_t> queue_;  // the marked blocks, of which queue_read_ have been read
  std::size_t queue_read_ = 0;
  std::vector<bool> is_candidate_;
  const DividedChunks* divided_ = nullptr;  // null if there are none
  std::vector<bool> is_chunk_marked_;
  std::vector<bool> is_known_lost_;    // empty if none is
  std::vector<bool> may_lead_;         // of those; likewise
  std::vector<bool> is_ignored_;       // until MarkIgnored; empty if none is
  std::vector<bool> is_from_ignored_;  // from then on; likewise
  std::size_t unmarked_candidates_ = 0;
  std::vector<std::uint32_t> lost_;        // blocks, by address; Conclude() fills it
  std::vector<LostGraph::Way> lost_ways_;  // of each of lost_, by places there
  // By stack, root and block of the same window.
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::shared_ptr<const LostWith>>
      lost_with_;
  std::vector<std::uint64_t> odd_words_;  // of the block that is being read
};

// The text of what holds a retained block: the chain of pointers that leads to it from a root.

// An address in the file of a module.
struct FileAddress {
  std::string path;
  std::uint64_t address = 0;

  friend bool operator==(const FileAddress&, const FileAddress&) = default;
};

struct HolderChain {
  std::string root;                // "g_cache (net/cache.cc:12)", "the stack of thread 7 'worker'"
  std::uint32_t hidden = 0;        // blocks between the root and the first of `links`
  std::vector<LiveBlock> links{};  // from the root to the block; the last one holds the block
  std::optional<LiveBlock> outermost{};  // the block that the root holds, if it is another one
  OddWay way = OddWay::kNone;            // if a pointer on the way is odd
  bool is_in_queue = false;              // the root is a queue of the kernel's
  std::optional<FileAddress> global{};   // the root, if it is in a module's data
};

// The stack of a block that the agent did not see allocated.
inline constexpr std::uint32_t kUnseenStack = 0xFFFF'FFFF;

struct BlockReach {
  Reach reach = Reach::kUnknown;
  // It is retained by nothing but blocks that the code has leak checkers ignore.
  bool is_ignored = false;
  // Null if the block is not retained, or if nobody wants to know. Of all blocks, few have one.
  std::shared_ptr<const HolderChain> holder{};
  std::shared_ptr<const LostWith> lost_with{};  // null if it is not lost indirectly
};

// Returns the call site that a stack id stands for, such as "net::Pool::Grow (pool.cc:88)"; an
// empty text if it is not known.
using CallSiteText = std::function<std::string(std::uint32_t stack)>;

// Returns "g_cache (net/cache.cc:12) -> ... 12 more -> 48 B allocated by net::Pool::Grow
// (pool.cc:88)", say. The retained block itself is left out. Empty if there is no holder.
[[nodiscard]] std::string HolderText(const HolderChain& holder, const CallSiteText& call_site);
// Returns the same of what a lost block is lost with: "112 B allocated by net::Open (net.cc:9)".
[[nodiscard]] std::string LostWithText(const LostWith& with, const CallSiteText& call_site);

}  // namespace leakgate
