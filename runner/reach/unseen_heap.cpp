#include "runner/reach/unseen_heap.h"

#include <algorithm>
#include <vector>

#include "runner/reach/reach.h"

namespace leakgate {
namespace {

constexpr std::uint64_t kChunkHeaderBytes = 16;
constexpr std::uint64_t kSmallestChunk = 32;
constexpr std::uint64_t kPreviousInUse = 1;
constexpr std::uint64_t kMappedByItself = 2;
constexpr std::uint64_t kFencepost = 16;  // the size of the two chunks that end a part of the heap
constexpr std::uint64_t kLongestGap = 64ULL << 20;  // in which a first chunk is searched for
// The mark of cached chunks is a random number, and no address.
constexpr std::uint64_t kLeastMark = 1ULL << 48;

struct UnseenChunk {
  std::uint64_t begin = 0;  // of the header
  std::uint64_t bytes = 0;

  friend bool operator<(const UnseenChunk& a, const UnseenChunk& b) { return a.begin < b.begin; }
};

class UnseenHeapFinder {
 public:
  explicit UnseenHeapFinder(UnseenHeapSources sources) : from_(std::move(sources)) {
    std::sort(from_.allocator_words.begin(), from_.allocator_words.end());
  }

  UnseenHeap Find() {
    for (const GlibcHeap& heap : from_.heaps) WalkHeap(heap);
    // Millions, where tests have freed a large heap, which are sorted already.
    if (!std::is_sorted(chunks_.begin(), chunks_.end())) std::sort(chunks_.begin(), chunks_.end());
    const auto begin_at_one = [](const UnseenChunk& a, const UnseenChunk& b) {
      return a.begin == b.begin;
    };
    chunks_.erase(std::unique(chunks_.begin(), chunks_.end(), begin_at_one), chunks_.end());
    is_freed_.resize(chunks_.size());
    FollowFastLists();
    for (std::size_t i = 0; i < chunks_.size(); ++i) {
      const UnseenChunk& chunk = chunks_[i];
      if (is_freed_[i] || IsCached(chunk)) continue;
      found_.chunks.push_back({.address = chunk.begin + kChunkHeaderBytes,
                               .size_bytes = chunk.bytes - kChunkHeaderBytes / 2,
                               .stack = kUnseenStack});
    }
    return std::move(found_);
  }

 private:
  [[nodiscard]] std::uint64_t SizeWord(std::uint64_t chunk) const { return from_.read(chunk + 8); }
  [[nodiscard]] std::uint64_t SizeOf(std::uint64_t chunk) const {
    return SizeWord(chunk) & ~std::uint64_t{7};
  }

  [[nodiscard]] bool IsAllocatorWord(std::uint64_t word) const {
    return std::binary_search(from_.allocator_words.begin(), from_.allocator_words.end(), word);
  }

  [[nodiscard]] bool MayBeChunk(std::uint64_t chunk, std::uint64_t limit) const {
    const std::uint64_t size = SizeOf(chunk);
    return size >= kSmallestChunk && size % 16 == 0 && size <= limit - chunk &&
           (SizeWord(chunk) & kMappedByItself) == 0;
  }

  [[nodiscard]] std::span<const LiveBlock> BlocksIn(const GlibcHeap& heap) const {
    const auto is_before = [](const LiveBlock& block, std::uint64_t address) {
      return block.address < address;
    };
    const auto first =
        std::lower_bound(from_.blocks.begin(), from_.blocks.end(), heap.begin, is_before);
    const auto last = std::lower_bound(first, from_.blocks.end(), heap.end, is_before);
    return {first, last};
  }

  // Each block's chunk is as large as it must be, and ends before the next one begins.
  [[nodiscard]] bool AreGlibcs(std::span<const LiveBlock> blocks, const GlibcHeap& heap) const {
    std::uint64_t end = heap.begin;
    for (const LiveBlock& block : blocks) {
      const std::uint64_t chunk = block.address - kChunkHeaderBytes;
      if (chunk < end || !MayBeChunk(chunk, heap.end)) return false;
      if (SizeOf(chunk) < block.size_bytes + 8) return false;
      end = chunk + SizeOf(chunk);
    }
    return true;
  }

  void WalkHeap(const GlibcHeap& heap) {
    const std::span<const LiveBlock> blocks = BlocksIn(heap);
    if (blocks.empty() || !AreGlibcs(blocks, heap)) return;
    std::uint64_t at = heap.begin;
    for (const LiveBlock& block : blocks) {
      const std::uint64_t chunk = block.address - kChunkHeaderBytes;
      WalkGap(heap, at, chunk);
      at = chunk + SizeOf(chunk);
    }
    WalkGap(heap, at, heap.end);
  }

  // Walks from one known block to the next one. Where glibc's heap goes on elsewhere, the rest of
  // the gap begins with what the program got by sbrk.
  void WalkGap(const GlibcHeap& heap, std::uint64_t at, std::uint64_t end) {
    std::vector<UnseenChunk> chunks;
    const bool is_first = at == heap.begin;
    while (!is_first && at < end && MayBeChunk(at, end)) {
      chunks.push_back({at, SizeOf(at)});
      at += chunks.back().bytes;
      if (IsTop(chunks.back(), heap)) break;
    }
    const bool is_over = at < end && !is_first && SizeOf(at) == kFencepost;
    if (is_over) at += 2 * kFencepost;
    const bool goes_on_elsewhere =
        is_first || is_over || (!chunks.empty() && IsTop(chunks.back(), heap));
    if (at < end && !goes_on_elsewhere) return;  // not glibc's bookkeeping
    AddChunks(chunks, heap);
    if (at < end) FindFirstChunk(heap, at, end);
  }

  // The top chunk is free, and no chunk comes behind it that would say so.
  [[nodiscard]] bool IsTop(const UnseenChunk& chunk, const GlibcHeap& heap) const {
    const std::uint64_t next = chunk.begin + chunk.bytes;
    if (!IsAllocatorWord(chunk.begin) || next >= heap.end) return false;
    const bool is_in_bin = from_.read(next) == chunk.bytes && MayBeChunk(next, heap.end) &&
                           (SizeWord(next) & kPreviousInUse) == 0;
    const bool is_on_fast_list = chunk.bytes <= kLargestFast && MayBeChunk(next, heap.end);
    return !is_in_bin && !is_on_fast_list;
  }

  // Finds the first address from which chunk follows chunk up to `end`.
  void FindFirstChunk(const GlibcHeap& heap, std::uint64_t begin, std::uint64_t end) {
    begin = (begin + 15) & ~std::uint64_t{15};
    if (end <= begin || end - begin > kLongestGap) return;
    std::vector<bool> leads_to_end((end - begin) / 16 + 1);
    leads_to_end.back() = true;
    std::uint64_t first = end;
    for (std::uint64_t at = end - 16; at >= begin && at < end; at -= 16) {
      if (!MayBeChunk(at, end) || !leads_to_end[(at + SizeOf(at) - begin) / 16]) continue;
      leads_to_end[(at - begin) / 16] = true;
      first = at;
    }
    if (heap.is_program_break && first > begin) found_.ranges.push_back({begin, first});
    std::vector<UnseenChunk> chunks;
    for (std::uint64_t at = first; at < end; at += SizeOf(at)) chunks.push_back({at, SizeOf(at)});
    AddChunks(chunks, heap);
  }

  // Leaves out chunks that the next one tells to be free, and the one that nothing follows.
  void AddChunks(const std::vector<UnseenChunk>& chunks, const GlibcHeap& heap) {
    for (const UnseenChunk& chunk : chunks) {
      const std::uint64_t next = chunk.begin + chunk.bytes;
      if (next >= heap.end || IsTop(chunk, heap)) continue;
      if ((SizeWord(next) & kPreviousInUse) != 0) chunks_.push_back(chunk);
    }
  }

  // A cached chunk bears a random number. In glibc before 2.34 it is the address of the cache,
  // which is a chunk that nobody has seen either.
  [[nodiscard]] bool IsCached(const UnseenChunk& chunk) const {
    const std::uint64_t mark = from_.read(chunk.begin + kChunkHeaderBytes + 8);
    if (!IsAllocatorWord(mark)) return false;
    const bool is_number = mark >= kLeastMark && mark < ~std::uint64_t{0xFFFF'FFFF};
    return is_number || IndexOf(mark - kChunkHeaderBytes, 0) != chunks_.size();
  }

  // The lists are singly linked, by the headers' addresses, which glibc since 2.32 mixes with that
  // of the word that has them.
  void FollowFastLists() {
    for (const std::uint64_t word : from_.allocator_words) FollowFastList(word);
  }

  void FollowFastList(std::uint64_t chunk) {
    std::size_t at = IndexOf(chunk, 0);
    while (at != chunks_.size() && !is_freed_[at]) {
      is_freed_[at] = true;
      const std::uint64_t place = chunks_[at].begin + kChunkHeaderBytes;
      const std::uint64_t word = from_.read(place);
      const std::size_t next = IndexOf(word, at);
      at = next != chunks_.size() ? next : IndexOf(word ^ place >> 12, at);
    }
  }

  // Returns the index of the chunk that begins at `address`; the number of chunks if none does.
  // Chunks of a list are often neighbours of each other, as `near` may be of this one.
  [[nodiscard]] std::size_t IndexOf(std::uint64_t address, std::size_t near) const {
    for (std::size_t i = near == 0 ? 0 : near - 1; i <= near + 1 && i < chunks_.size(); ++i) {
      if (chunks_[i].begin == address) return i;
    }
    const auto found = std::lower_bound(chunks_.begin(), chunks_.end(), UnseenChunk{address, 0});
    const bool is_known = found != chunks_.end() && found->begin == address;
    return is_known ? static_cast<std::size_t>(found - chunks_.begin()) : chunks_.size();
  }

  static constexpr std::uint64_t kLargestFast = 0xB0;

  UnseenHeapSources from_;
  UnseenHeap found_;
  std::vector<UnseenChunk> chunks_;  // sorted once all heaps have been walked
  std::vector<bool> is_freed_;       // one for each chunk
};

}  // namespace

UnseenHeap FindUnseenHeap(UnseenHeapSources sources) {
  return UnseenHeapFinder(std::move(sources)).Find();
}

}  // namespace leakgate
