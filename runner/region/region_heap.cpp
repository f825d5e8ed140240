// Implements what RegionReader says about live blocks.
#include <algorithm>
#include <bitset>
#include <optional>
#include <unordered_map>
#include <utility>

#include "common/live_slot.h"
#include "runner/base/descriptors.h"
#include "runner/base/large_pages.h"
#include "runner/base/time_limit.h"
#include "runner/region/claimed_memory.h"
#include "runner/region/live_chunks.h"
#include "runner/region/region_reader.h"
#include "runner/region/shared_copy.h"

namespace leakgate {
namespace {

// The contents of a block's words.
struct WrittenBlock {
  LiveStart start;
  std::uint32_t context;
  std::uint64_t size_bytes;
};

// The words of a chunk of the live map. A page follows them in the mapping, so the words that
// belong to the last start word can be read safely.
class LiveWords {
 public:
  explicit LiveWords(const std::byte* chunk)
      : words_(reinterpret_cast<const std::atomic<std::uint32_t>*>(chunk)) {}

  // Acquire pairs with the agent's release: the block's other words and its stack are complete.
  std::uint32_t Acquire(std::uint64_t at) const {
    return words_[at].load(std::memory_order_acquire);
  }
  std::uint32_t Load(std::uint64_t at) const { return words_[at].load(std::memory_order_relaxed); }

  // Reads the block that begins at `at`, where the word `start` was read. Returns nothing if none
  // begins there, because its second granule would be the begin of another, or because it changes
  // so often that the answer cannot be found.
  std::optional<WrittenBlock> BlockAt(std::uint64_t at, std::uint32_t start) const {
    constexpr int kMostAttempts = 100;
    for (int i = 0; i < kMostAttempts && IsLiveStart(start); ++i) {
      const std::uint32_t rest = Acquire(at + 1);  // before the size is read
      const std::uint64_t size_bytes = SizeAt(at, DecodeRest(rest));
      // Pairs with the agent's releases of these words: if they belong to another block, it is seen
      // now that this one has gone.
      std::atomic_thread_fence(std::memory_order_acquire);
      const std::uint32_t start_now = Acquire(at);
      if (start_now == start && Load(at + 1) == rest) {
        if (IsLiveStart(rest)) return std::nullopt;
        return WrittenBlock{DecodeStart(start), DecodeRest(rest).context, size_bytes};
      }
      start = start_now;
    }
    return std::nullopt;
  }

 private:
  std::uint64_t SizeAt(std::uint64_t at, const LiveRest& rest) const {
    if (rest.short_size != kSizeFollows) return rest.short_size;
    return DecodeSize(Load(at + 2), Load(at + 3));
  }

  const std::atomic<std::uint32_t>* words_;
};

// Makes room for `count` blocks.
void Reserve(std::vector<LiveBlock>& blocks, std::size_t count) {
  blocks.reserve(count);
  PreferLargePages(blocks.data(), blocks.capacity() * sizeof(LiveBlock));
}

// The words [begin, end) of a chunk, in a part of it that has pages.
struct Stretch {
  LiveWords words;
  std::uint64_t begin;
  std::uint64_t end;
  std::uint64_t chunk_address;

  std::uint64_t AddressOf(std::uint64_t word) const {
    return chunk_address | (word << kGranuleShift);
  }
};

LiveBlock BlockOf(std::uint64_t address, const WrittenBlock& written,
                  const ContextRecord& context) {
  return {.address = address,
          .size_bytes = written.size_bytes,
          .kind = written.start.kind,
          .stack = written.start.stack,
          .window = context.window,
          .thread = context.thread,
          .allowance = context.allowance,
          .phase = context.phase,
          .is_static = context.is_static != 0};
}

constexpr std::uint64_t kWordsPerHeapPage = kHeapPageBytes >> kGranuleShift;

// Whether the words inside live blocks are read. Nothing begins there, unless the process has
// written a wrong size, or an allocator has divided the block into blocks of its own: then all of
// the live map must be read.
enum class InsideOfBlocks { kPassOver, kRead };

// Reads the words of the live map by address, stretch by stretch.
class LiveScan {
 public:
  explicit LiveScan(InsideOfBlocks inside) : inside_(inside) {}

  // Calls `use(at, word)` for each word in [begin, end) that is not zero and not within a live
  // block. `use` returns the size of the block that begins there; nothing if none does.
  template <typename Use>
  void ForEachWord(const Stretch& stretch, std::uint64_t begin, std::uint64_t end, Use use) {
    for (std::uint64_t at = begin + WordsPassed(stretch, begin); at < end;) {
      const std::uint32_t word = stretch.words.Acquire(at);
      const std::optional<std::uint64_t> size = word != 0 ? use(at, word) : std::nullopt;
      if (!size) {
        ++at;
        continue;
      }
      ++blocks_;
      const std::uint64_t address = stretch.AddressOf(at);
      if (inside_ == InsideOfBlocks::kPassOver) passed_until_ = address + *size;
      at += std::max<std::uint64_t>(WordsPassed(stretch, at), 1);
    }
  }

  // Returns how many words from `at` on are of the block that was read last.
  [[nodiscard]] std::uint64_t WordsPassed(const Stretch& stretch, std::uint64_t at) const {
    const std::uint64_t address = stretch.AddressOf(at);
    if (passed_until_ <= address) return 0;
    constexpr std::uint64_t kRoundUp = (1U << kGranuleShift) - 1;
    return (passed_until_ - address + kRoundUp) >> kGranuleShift;
  }

  [[nodiscard]] std::uint64_t blocks() const { return blocks_; }

 private:
  const InsideOfBlocks inside_;
  std::uint64_t passed_until_ = 0;  // an address
  std::uint64_t blocks_ = 0;
};

// glibc gives a large block a mapping of its own. Such a block begins 16 bytes behind the start of
// its first page, so it uses the second to fifth word of that page.
bool IsOfBlockWithOwnMapping(std::uint64_t word_of_page) {
  return word_of_page >= 1 && word_of_page <= 4;
}

// Calls `read(scan)`, which returns what it has found, with a scan that skips the words inside
// blocks. If that may have missed a block, by the process's own counts, calls it again with a scan
// that skips nothing.
template <typename Read>
auto ReadQuickly(const RegionReader& region, Read read)
    -> decltype(read(std::declval<LiveScan&>())) {
  LiveScan scan(InsideOfBlocks::kPassOver);
  auto found = read(scan);
  const Totals totals = region.CurrentTotals();
  if (!found || scan.blocks() == totals.allocated_blocks - totals.freed_blocks) return found;
  { const auto given_back = std::move(found); }  // frees its memory for the next one
  LiveScan whole(InsideOfBlocks::kRead);
  return read(whole);
}

}  // namespace

// Estimates how many blocks there are, so that a vector need not grow, which would touch its pages
// twice. The counters may move while they are read, or the process may have overwritten them; so
// the estimate is bounded.
std::size_t RegionReader::EstimateBlockCount() const {
  constexpr std::uint64_t kMost = 1U << 24;
  const Totals totals = CurrentTotals();
  if (totals.freed_blocks > totals.allocated_blocks) return 0;
  return std::min(totals.allocated_blocks - totals.freed_blocks, kMost);
}

ContextRecord RegionReader::Context(std::uint32_t id) const {
  static_assert(kMaxContexts == kContextMask + 1);
  return CopyOf(At<ContextRecord>(region_offset::kContexts) + (id & kContextMask));
}

std::uint32_t RegionReader::WindowOfContext(std::uint32_t context) const {
  return context < kMaxContexts ? Context(context).window : 0;
}

// Returns the chunk's number plus 1; 0 if there is none.
std::uint32_t RegionReader::ChunkAt(std::uint64_t directory_index) const {
  if (directory_index >= kDirectoryEntries) return 0;
  const auto* const entries = At<std::atomic<std::uint32_t>>(region_offset::kDirectory);
  const std::uint32_t entry = entries[directory_index].load(std::memory_order_acquire);
  return entry > kMaxChunks ? 0 : entry;
}

// Calls `use(directory_index, chunk)` for each chunk, sorted by address, until a call fails.
template <typename Use>
Expected<void> RegionReader::ForEachChunk(Use use) const {
  std::bitset<kMaxChunks> seen;  // a directory that was overwritten may name a chunk twice
  const FileRange directory{region_offset::kDirectory, region_offset::kChunks};
  for (const FileRange& range : DataRanges(*fd_, directory)) {
    const std::uint64_t first = (range.begin - directory.begin) / sizeof(std::uint32_t);
    const std::uint64_t last = (range.end - directory.begin) / sizeof(std::uint32_t);
    for (std::uint64_t index = first; index < last; ++index) {
      const std::uint32_t entry = ChunkAt(index);
      if (entry == 0 || seen.test(entry - 1)) continue;
      seen.set(entry - 1);
      CheckTime();
      LEAKGATE_TRY(use(index, entry - 1));
    }
  }
  return {};
}

// Calls `use(stretch)` for each part of the chunk that has pages.
template <typename Use>
Expected<void> RegionReader::ForEachStretch(std::uint64_t directory_index, std::uint32_t chunk,
                                            Use use) const {
  LEAKGATE_TRY_ASSIGN(const LiveChunk known, chunks_->Get(chunk));
  const std::uint64_t begin = region_offset::kChunks + chunk * kChunkBytes;
  for (const FileRange& range : *known.data) {
    use(Stretch{LiveWords(known.mapping->data()), (range.begin - begin) / sizeof(std::uint32_t),
                std::min((range.end - begin) / sizeof(std::uint32_t), kChunkWords),
                directory_index << kChunkShift});
  }
  return {};
}

// Calls `use(stretch)`, which counts blocks with `scan`, for all parts of the map that have pages,
// sorted by address. Fails if there cannot be so many blocks.
template <typename Scan, typename Use>
Expected<void> RegionReader::ReadMap(Scan& scan, Use use) const {
  const Totals totals = CurrentTotals();
  ClaimedMemory claimed(pid_, totals.allocated_blocks - totals.freed_blocks, seen_);
  const Expected<void> read = ForEachChunk([&](std::uint64_t index, std::uint32_t chunk) {
    const std::uint64_t before = scan.blocks();
    const Expected<void> scanned = ForEachStretch(index, chunk, use);
    if (!scanned) return scanned;
    const auto count_again = [&] {
      LiveScan again(InsideOfBlocks::kPassOver);
      (void)ForEachStretch(index, chunk, [&](const Stretch& stretch) {
        const auto count = [&](std::uint64_t at, std::uint32_t word) {
          const auto written = stretch.words.BlockAt(at, word);
          return written ? std::optional(written->size_bytes) : std::nullopt;
        };
        again.ForEachWord(stretch, stretch.begin, stretch.end, count);
      });
      return again.blocks();
    };
    const bool is_possible =
        claimed.Add(index << kChunkShift, 1ULL << kChunkShift, scan.blocks() - before, count_again);
    return is_possible ? Expected<void>() : InconclusiveError(DamageText());
  });
  if (read) claimed.NoteAll();
  return read;
}

// Calls `use(address, written)` for each live block, by address.
template <typename Scan, typename Use>
Expected<void> RegionReader::ForEachBlock(Scan& scan, Use use) const {
  return ReadMap(scan, [&](const Stretch& stretch) {
    scan.ForEachWord(stretch, stretch.begin, stretch.end,
                     [&](std::uint64_t at, std::uint32_t word) -> std::optional<std::uint64_t> {
                       const auto written = stretch.words.BlockAt(at, word);
                       if (!written) return std::nullopt;
                       use(stretch.AddressOf(at), *written);
                       return written->size_bytes;
                     });
  });
}

// Finds the live blocks for whose context `is_wanted` returns true.
template <typename IsWanted>
Expected<std::vector<LiveBlock>> RegionReader::FindBlocks(IsWanted is_wanted) const {
  return ReadQuickly(*this, [&](LiveScan& scan) -> Expected<std::vector<LiveBlock>> {
    std::vector<LiveBlock> found;
    // Millions of blocks in a row may be of one context.
    std::uint32_t last = kMaxContexts;
    bool is_last_wanted = false;
    LEAKGATE_TRY(ForEachBlock(scan, [&](std::uint64_t address, const WrittenBlock& written) {
      if (written.context != last) {
        last = written.context;
        is_last_wanted = is_wanted(Context(last));
      }
      if (is_last_wanted) found.push_back(BlockOf(address, written, Context(last)));
    }));
    return found;
  });
}

Expected<std::vector<LiveSum>> RegionReader::SumBlocks() const {
  return ReadQuickly(*this, [&](LiveScan& scan) -> Expected<std::vector<LiveSum>> {
    std::unordered_map<std::uint64_t, Amount> sums;  // by stack and context
    Amount* last = nullptr;
    std::uint64_t last_key = 0;
    LEAKGATE_TRY(ForEachBlock(scan, [&](std::uint64_t, const WrittenBlock& written) {
      const std::uint64_t key = std::uint64_t{written.start.stack} << 32 | written.context;
      if (last == nullptr || key != last_key) last = &sums[last_key = key];
      *last += Amount{static_cast<std::int64_t>(written.size_bytes), 1};
    }));
    std::vector<LiveSum> found;
    found.reserve(sums.size());
    for (const auto& [key, amount] : sums) {
      const ContextRecord context = Context(static_cast<std::uint32_t>(key));
      found.push_back({.stack = static_cast<std::uint32_t>(key >> 32),
                       .window = context.window,
                       .allowance = context.allowance,
                       .amount = amount});
    }
    return found;
  });
}

Expected<std::vector<LiveBlock>> RegionReader::StillLive(std::span<const LiveBlock> blocks) const {
  std::vector<LiveBlock> live;
  std::optional<LiveChunk> chunk;
  std::uint64_t index = ~std::uint64_t{0};
  for (const LiveBlock& block : blocks) {
    if (block.address >> kChunkShift != index) {
      index = block.address >> kChunkShift;
      chunk.reset();
      const std::uint32_t entry = ChunkAt(index);
      if (entry != 0) {
        LEAKGATE_TRY_ASSIGN(chunk, chunks_->Get(entry - 1));
      }
    }
    if (!chunk) continue;
    const LiveWords words(chunk->mapping->data());
    const std::uint64_t at = (block.address & ((1ULL << kChunkShift) - 1)) >> kGranuleShift;
    const auto written = words.BlockAt(at, words.Acquire(at));
    if (!written) continue;
    const LiveBlock now = BlockOf(block.address, *written, Context(written->context));
    const bool is_same = now.stack == block.stack && now.window == block.window &&
                         now.size_bytes == block.size_bytes;
    if (is_same) live.push_back(block);
  }
  return live;
}

Expected<std::vector<LiveBlock>> RegionReader::LiveBlocks(std::uint32_t window) const {
  return FindBlocks([=](const ContextRecord& context) { return context.window == window; });
}

Expected<std::vector<LiveBlock>> RegionReader::LiveBlocks(const MeasuringWindowCopy& window) const {
  return FindBlocks([&](const ContextRecord& context) {
    return context.phase >= window.first_phase && context.phase < window.end_phase &&
           (window.thread == 0 || window.thread == context.thread);
  });
}

Expected<void> RegionReader::VisitBlocks(const UseBlocks& use) const {
  constexpr std::size_t kBatch = 8192;
  std::vector<LiveBlock> batch;
  batch.reserve(kBatch);
  Expected<void> outcome;
  const auto scan = [&](const Stretch& stretch) {
    for (std::uint64_t i = stretch.begin; i < stretch.end && outcome; ++i) {
      const auto written = stretch.words.BlockAt(i, stretch.words.Acquire(i));
      if (!written) continue;
      batch.push_back(BlockOf(stretch.AddressOf(i), *written, Context(written->context)));
      if (batch.size() < kBatch) continue;
      outcome = use(batch);
      batch.clear();
    }
  };
  const Expected<void> scanned = ForEachChunk([&](std::uint64_t index, std::uint32_t chunk) {
    Expected<void> done = ForEachStretch(index, chunk, scan);
    return done ? outcome : done;
  });
  if (!scanned) return scanned;
  return batch.empty() ? Expected<void>() : use(batch);
}

// A page that lies wholly within a live block is not returned, because the block is not a root.
Expected<HeapCopy> RegionReader::CopyHeap() const {
  return ReadQuickly(*this, [&](LiveScan& scan) -> Expected<HeapCopy> {
    HeapCopy heap;
    Reserve(heap.blocks, EstimateBlockCount());
    const auto read = [&](const Stretch& stretch) {
      for (std::uint64_t page = stretch.begin; page < stretch.end;) {
        const std::uint64_t within = scan.WordsPassed(stretch, page);
        if (within >= kWordsPerHeapPage) {
          page += within / kWordsPerHeapPage * kWordsPerHeapPage;
          continue;
        }
        const auto is_of_heap = [&](std::uint64_t at) {
          return !IsOfBlockWithOwnMapping(at - page);
        };
        bool is_heap = false;
        const std::uint64_t end = page + kWordsPerHeapPage;
        scan.ForEachWord(stretch, page, end,
                         [&](std::uint64_t at, std::uint32_t word) -> std::optional<std::uint64_t> {
                           is_heap = is_heap || is_of_heap(at);
                           const auto written = stretch.words.BlockAt(at, word);
                           if (!written) return std::nullopt;
                           heap.blocks.push_back(
                               BlockOf(stretch.AddressOf(at), *written, Context(written->context)));
                           return written->size_bytes;
                         });
        // Blocks may have begun where the last part of an earlier one is now.
        for (std::uint64_t at = page; !is_heap && at < page + within; ++at) {
          is_heap = stretch.words.Load(at) != 0 && is_of_heap(at);
        }
        if (is_heap) heap.pages.push_back(stretch.AddressOf(page));
        page = end;
      }
    };
    LEAKGATE_TRY(ReadMap(scan, read));
    constexpr std::size_t kMany = 200'000;  // a caller of so many needs the memory
    if (heap.blocks.size() > kMany) chunks_->ReleasePages();
    return heap;
  });
}

}  // namespace leakgate
